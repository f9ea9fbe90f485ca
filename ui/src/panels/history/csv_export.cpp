#include "panels/history/csv_export.h"

#include <QCoreApplication>
#include <QFileInfo>

#include "commands/commands.h"
#include "widgets/save_dialog.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct CsvExport {
    Q_DECLARE_TR_FUNCTIONS(CsvExport)
public:
    static QString askForFile(QWidget* parent, const std::vector<engine::RunSummary>& runs) {
        QStringList names;
        for (const auto& run : runs) names << QString::fromStdString(run.run);
        const auto named = ui::askForFile(parent, tr("Export steps as CSV"), names.join(u'-'),
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
    std::vector<engine::CsvRun> all;
    for (const auto& run : runs) {
        all.push_back({run.run + " " + run.config.precision.preset, run.folder});
    }
    commands->works()->start({CsvExport::title(file), file, [all, file] {
                                  engine::export_csv(all, file.toStdString());
                                  return CsvExport::done(file);
                              }});
}

}  // namespace ui
