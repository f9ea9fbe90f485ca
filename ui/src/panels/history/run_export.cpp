#include "panels/history/run_export.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <algorithm>
#include <optional>
#include <utility>

#include "commands/commands.h"
#include "commands/run_history.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "engine/runs/run_group.h"
#include "pdf/report_file.h"
#include "text/format.h"
#include "text/language.h"
#include "widgets/save_dialog.h"

namespace ui {
namespace {

struct RunExport {
    Q_DECLARE_TR_FUNCTIONS(RunExport)
public:
    static QString exportTitle() { return tr("Export run"); }
    static QString reportTitle() { return tr("Write a report"); }
    static QString webPage() { return tr("Web page (*.html)"); }
    static QString pdf() { return tr("PDF (*.pdf)"); }
    static QString importTitle() { return tr("Import run"); }
    static QString half(const QString& title) { return tr("%1, FP16").arg(title); }
    static QString runs() { return tr("Whole runs (*.halftone)"); }
    static QString done(const QString& file) { return tr("Exported to %1.").arg(file); }
    static QString exporting(const QString& file) {
        return tr("Exporting %1").arg(QFileInfo(file).fileName());
    }
    static QString reporting(const QString& file) {
        return tr("Writing the report %1").arg(QFileInfo(file).fileName());
    }
    static QString importing(const QString& file) {
        return tr("Importing %1").arg(QFileInfo(file).fileName());
    }
    static QString csv() { return tr("Steps of the runs (*.csv)"); }
    static QString which() { return tr("Checkpoint"); }
    static QString last(std::int64_t step) { return tr("Last (step %1)").arg(count(step)); }
    static QString best(std::int64_t step) { return tr("Best (step %1)").arg(count(step)); }
    static QString atStep(std::int64_t step) { return tr("Step %1").arg(count(step)); }
    static QString packed() { return tr("Checkpoints in the file"); }
    static QString packNone() { return tr("None: figures only, a small file"); }
    static QString packBest(std::int64_t size) {
        return tr("The best one, to try it elsewhere (%1)").arg(bytes(size));
    }
    static QString packAll(std::int64_t size) {
        return tr("All, to continue it elsewhere (%1)").arg(bytes(size));
    }
};

/// A form of the dialog: ONNX stands there in two types.
struct Form {
    const engine::ExportInfo* info;
    bool half;
    QString suffix() const { return QString::fromStdString(info->ending).mid(1); }
    QString filter() const {
        const QString title = engineText(info->title);
        return u"%1 (*.%2)"_s.arg(half ? RunExport::half(title) : title, suffix());
    }
};

std::vector<Form> forms() {
    std::vector<Form> out;
    for (const auto& info : engine::export_formats()) {
        out.push_back({&info, false});
        if (info.takes_half) out.push_back({&info, true});
    }
    return out;
}

struct ExportAnswer {
    Form form;
    QString file;
    std::string checkpoint;
    engine::PackedCheckpoints packed = engine::PackedCheckpoints::none;
};

/// Which checkpoint the weights are read from; asked where there are several. Nothing if the user
/// cancels.
std::optional<std::string> askCheckpoint(QWidget* parent, const engine::RunSummary& run) {
    const auto found = engine::list_checkpoints(run.folder);
    if (found.size() < 2) return "last";
    const auto best = std::find_if(found.rbegin(), found.rend(),
                                   [](const engine::CheckpointInfo& each) { return each.best; });
    QStringList texts;
    std::vector<std::string> names;
    const auto add = [&](const QString& text, const std::string& name) {
        texts << text;
        names.push_back(name);
    };
    add(RunExport::last(found.back().step), "last");
    if (best != found.rend()) add(RunExport::best(best->step), "best");
    for (auto each = found.rbegin() + 1; each != found.rend(); ++each)
        add(RunExport::atStep(each->step), std::to_string(each->step));
    bool chosen = false;
    const QString text = QInputDialog::getItem(parent, RunExport::exportTitle(), RunExport::which(),
                                               texts, 0, false, &chosen);
    if (!chosen) return std::nullopt;
    return names[static_cast<std::size_t>(std::max<qsizetype>(texts.indexOf(text), 0))];
}

using Runs = std::vector<engine::RunSummary>;

/// Which checkpoints the file of whole runs gets; asked where there are any. Nothing if the user
/// cancels.
std::optional<engine::PackedCheckpoints> askPacked(QWidget* parent, const Runs& runs) {
    using enum engine::PackedCheckpoints;
    std::int64_t bestBytes = 0, allBytes = 0;
    for (const auto& run : runs) {
        std::int64_t bestOfRun = 0;
        for (const auto& checkpoint : engine::list_checkpoints(run.folder)) {
            allBytes += checkpoint.bytes;
            if (checkpoint.best) bestOfRun = checkpoint.bytes;
        }
        bestBytes += bestOfRun;
    }
    if (allBytes == 0) return none;
    QStringList texts{RunExport::packNone()};
    std::vector<engine::PackedCheckpoints> choices{none};
    if (bestBytes > 0) {
        texts << RunExport::packBest(bestBytes);
        choices.push_back(best);
    }
    texts << RunExport::packAll(allBytes);
    choices.push_back(all);
    bool chosen = false;
    const QString text = QInputDialog::getItem(parent, RunExport::exportTitle(),
                                               RunExport::packed(), texts, 0, false, &chosen);
    if (!chosen) return std::nullopt;
    return choices[static_cast<std::size_t>(std::max<qsizetype>(texts.indexOf(text), 0))];
}

std::vector<engine::CsvRun> csvRuns(const Runs& runs) {
    std::vector<engine::CsvRun> out;
    for (const auto& each : runs)
        out.push_back({each.run + " " + each.config.precision.preset, each.folder});
    return out;
}

/// Sorts as the plots do: the first of a comparison is its baseline. Lists have the newest first.
Runs oldestFirst(Runs runs) {
    std::ranges::stable_sort(
        runs, {}, [](const engine::RunSummary& run) { return std::pair(run.run.size(), run.run); });
    return runs;
}

/// "run-3", "comparison-2"; "3-5" of runs that are neither.
QString nameOfFile(const Runs& runs) {
    if (runs.size() == 1) return u"run-"_s + QString::fromStdString(runs.front().run);
    if (!engine::common_group(runs).empty() && runs.front().group_number > 0)
        return QString::fromStdString(engine::group_name(runs.front().group_number));
    return stringList(runs, &engine::RunSummary::run).join(u'-');
}

std::optional<ExportAnswer> ask(QWidget* parent, const engine::RunSummary& run) {
    const std::vector<Form> all = forms();
    std::vector<FileForm> files;
    for (const Form& form : all) files.push_back({form.filter(), form.suffix()});
    engine::ExportInfo plain = *all.front().info;
    plain.ending.clear();
    const auto named =
        askForFile(parent, RunExport::exportTitle(),
                   QString::fromStdString(engine::export_file_name(run, plain)), files);
    if (!named) return std::nullopt;
    const Form form = all[named->form];
    std::optional<std::string> checkpoint = "last";
    if (form.info->of_checkpoint) checkpoint = askCheckpoint(parent, run);
    std::optional<engine::PackedCheckpoints> packed = engine::PackedCheckpoints::none;
    if (form.info->takes_checkpoints) packed = askPacked(parent, {run});
    if (!checkpoint || !packed) return std::nullopt;
    return ExportAnswer{form, named->file, *checkpoint, *packed};
}

}  // namespace

void exportRun(QWidget* parent, Commands* commands, const engine::RunSummary& summary) {
    const auto answer = ask(parent, summary);
    if (!answer || answer->file.isEmpty()) return;
    const auto work = [folder = summary.folder, answer = *answer] {
        answer.form.info->write(folder, answer.file.toStdString(),
                                {.checkpoint = answer.checkpoint,
                                 .half = answer.form.half,
                                 .checkpoints = answer.packed});
        return RunExport::done(answer.file);
    };
    commands->works()->start({RunExport::exporting(answer->file), answer->file, work});
}

void exportRuns(QWidget* parent, Commands* commands,
                const std::vector<engine::RunSummary>& chosen) {
    if (chosen.empty()) return;
    const Runs runs = oldestFirst(chosen);
    const auto named =
        askForFile(parent, RunExport::exportTitle(), nameOfFile(runs),
                   {{RunExport::csv(), u"csv"_s}, {RunExport::runs(), u"halftone"_s}});
    if (!named) return;
    const auto packed = named->form == 0 ? std::optional(engine::PackedCheckpoints::none)
                                         : askPacked(parent, runs);
    if (!packed) return;
    const auto work = [runs, named = *named, packed = *packed] {
        const std::string file = named.file.toStdString();
        if (named.form == 0) {
            engine::export_csv(csvRuns(runs), file);
        } else {
            std::vector<std::filesystem::path> folders;
            for (const auto& each : runs) folders.push_back(each.folder);
            engine::export_group_file(folders, file, packed);
        }
        return RunExport::done(named.file);
    };
    commands->works()->start({RunExport::exporting(named->file), named->file, work});
}

void exportReport(QWidget* parent, Commands* commands,
                  const std::shared_ptr<engine::RunStore>& store,
                  const std::vector<engine::RunSummary>& chosen) {
    if (!store || chosen.empty()) return;
    const Runs runs = oldestFirst(chosen);
    const auto named =
        askForFile(parent, RunExport::reportTitle(), nameOfFile(runs),
                   {{RunExport::webPage(), u"html"_s}, {RunExport::pdf(), u"pdf"_s}});
    if (!named) return;
    const auto work = [runs, file = named->file] {
        writeReportFile(engine::make_report(runs), file.toStdString());
        return RunExport::done(file);
    };
    commands->works()->start({RunExport::reporting(named->file), named->file, work});
}

void importRun(QWidget* parent, Commands* commands, const std::shared_ptr<engine::RunStore>& store,
               std::function<void()> done) {
    if (!store) return;
    const QString file =
        QFileDialog::getOpenFileName(parent, RunExport::importTitle(), {}, RunExport::runs());
    if (file.isEmpty()) return;
    const auto work = [store, file] {
        return importedText(*store, store->import_runs(file.toStdString()));
    };
    commands->works()->start({RunExport::importing(file), {}, work, std::move(done), parent});
}

namespace {

struct CsvExport {
    Q_DECLARE_TR_FUNCTIONS(CsvExport)
public:
    static QString askForFile(QWidget* parent, const std::vector<engine::RunSummary>& runs) {
        const auto named = ui::askForFile(parent, tr("Export steps as CSV"),
                                          stringList(runs, &engine::RunSummary::run).join(u'-'),
                                          {{tr("CSV files (*.csv)"), u"csv"_s}});
        return named ? named->file : QString();
    }
    static QString title(const QString& file) {
        return tr("Exporting %1").arg(QFileInfo(file).fileName());
    }
    static QString done(const QString& file) { return tr("Exported to %1.").arg(file); }
};

}  // namespace

void exportCsv(QWidget* parent, Commands* commands, const std::vector<engine::RunSummary>& runs) {
    if (runs.empty()) return;
    const QString file = CsvExport::askForFile(parent, runs);
    if (file.isEmpty()) return;
    commands->works()->start({CsvExport::title(file), file, [all = csvRuns(runs), file] {
                                  engine::export_csv(all, file.toStdString());
                                  return CsvExport::done(file);
                              }});
}

}  // namespace ui
