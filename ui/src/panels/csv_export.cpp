#include "panels/csv_export.h"

#include <QCoreApplication>

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
