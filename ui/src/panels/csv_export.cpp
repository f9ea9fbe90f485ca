#include "panels/csv_export.h"

#include <QCoreApplication>
#include <QFileDialog>

#include "commands/commands.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

struct CsvExport {
    Q_DECLARE_TR_FUNCTIONS(CsvExport)
public:
    static QString askForFile(QWidget* parent, const std::vector<engine::RunSummary>& runs) {
        QStringList names;
        for (const auto& run : runs) names << QString::fromStdString(run.run);
        QFileDialog dialog(parent, tr("Export steps as CSV"), {}, tr("CSV files (*.csv)"));
        dialog.setAcceptMode(QFileDialog::AcceptSave);
        dialog.setDefaultSuffix(u"csv"_s);
        dialog.selectFile(names.join(u'-') + u".csv"_s);
        return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
    }
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
    try {
        engine::export_csv(all, file.toStdString());
    } catch (const engine::Error& error) {
        commands->report(error);
    }
}

}  // namespace ui
