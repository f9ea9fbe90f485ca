#pragma once

#include <QButtonGroup>
#include <QStackedWidget>
#include <QString>
#include <vector>

#include "view/context.h"

class QWidget;

namespace ui {

/// One view of the Lab page. The page places and owns the widgets.
struct LabView {
    QWidget* body = nullptr;
    /// Widgets at the right of `Lessons | Numbers` in the page bar: what the view has to say and to
    /// press.
    QWidget* tools = nullptr;
};
/// Makes both with `parent` as their parent.
using LabViewFactory = LabView(const Context& context, QWidget* parent);

struct LabViewEntry {
    QString name;   ///< identifies it where it is remembered: it never changes
    QString title;  ///< of its button, in the window's language
    LabViewFactory* make = nullptr;
};
/// The views in the order of their buttons. A new one is one line in lab_page.cpp.
std::vector<LabViewEntry> labViewEntries();

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
