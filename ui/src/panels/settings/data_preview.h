#pragma once

#include <QLabel>
#include <QWidget>

#include "engine/data/dataset_preview.h"
#include "feed/background_task.h"
#include "text/format.h"
#include "view/context.h"

namespace ui {

class DataSketch;

/// Shows the contents of the chosen data set: a few samples, columns or a passage, the counts, and
/// where its files are. Reads off the GUI thread.
class DataPreview final : public QWidget {
    Q_OBJECT
public:
    explicit DataPreview(const Context& context, QWidget* parent = nullptr);
    /// Asks for the file or folder of the data set.
    void choosePath();
    void setLocked(bool locked);

private:
    void ask();
    void showProgress();
    /// "1,000 train · 200 test rows · 3 classes"
    static QString classes(const engine::DatasetPreview& preview);
    static QString counts(const engine::DatasetPreview& preview);
    void show(const engine::DatasetPreview& preview);
    void showProblem(const QString& text);

    Context context_;
    QLabel* pictures_;
    DataSketch* sketch_;
    QLabel* counts_;
    QString asked_;  ///< settings that the preview was asked for
    BackgroundTask<engine::ReadingShare, engine::DatasetPreview> look_;
    TimeLeft left_;
};

}  // namespace ui
