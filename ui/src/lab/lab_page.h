#pragma once

#include <QButtonGroup>
#include <QStackedWidget>

#include "lab/lab_view.h"

namespace ui {

/// The Lab: what breaks in low precision, and can I predict it? A page bar and the view that it
/// selects. A view is created when it is first shown; the last one shown is remembered. GUI thread.
class LabPage final : public QWidget {
    Q_OBJECT
public:
    explicit LabPage(const Context& context, QWidget* parent = nullptr,
                     std::vector<LabViewEntry> entries = labViewEntries());

    /// Shows a view of labViewEntries(); another name changes nothing.
    void showView(const QString& name);
    QString shownView() const;

private:
    void show(int index);

    Context context_;
    std::vector<LabViewEntry> entries_;
    std::vector<LabView> views_;  ///< a null body: not made yet
    QButtonGroup* choice_;
    QStackedWidget* tools_;
    QStackedWidget* bodies_;
};

}  // namespace ui
