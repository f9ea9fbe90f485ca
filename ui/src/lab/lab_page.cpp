#include "lab/lab_page.h"

#include <QAbstractButton>
#include <QCoreApplication>
#include <QSettings>
#include <algorithm>

#include "commands/commands.h"
#include "theme/tokens.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {

#define HALFTONE_LAB_VIEWS(VIEW)                                          \
    /* name, title, function that the view's own file defines */          \
    VIEW("lessons", QT_TRANSLATE_NOOP("Lab", "Lessons"), makeLessonsView) \
    VIEW("numbers", QT_TRANSLATE_NOOP("Lab", "Numbers"), makeNumbersView) \
    /* end of the list */

#define HALFTONE_DECLARE(name, title, make) LabViewFactory make;
HALFTONE_LAB_VIEWS(HALFTONE_DECLARE)

std::vector<LabViewEntry> labViewEntries() {
#define HALFTONE_ENTRY(name, title, make) \
    {u"" name##_s, QCoreApplication::translate("Lab", title), make},
    return {HALFTONE_LAB_VIEWS(HALFTONE_ENTRY)};
}

QWidget* makeLabPage(const Context& context, QWidget* parent) {
    return new LabPage(context, parent);
}

LabPage::LabPage(const Context& context, QWidget* parent, std::vector<LabViewEntry> entries)
    : QWidget(parent),
      context_(context),
      entries_(std::move(entries)),
      views_(entries_.size()),
      tools_(new QStackedWidget(this)),
      bodies_(new QStackedWidget(this)) {
    auto* column = makeColumn(this, {}, size::gap);
    auto* bar = makeRow(size::gap);
    QStringList titles;
    for (const auto& entry : entries_) titles << entry.title;
    auto* segments = new Segments(tr("View of the Lab"), titles, this);
    choice_ = segments->buttons();
    bar->addWidget(segments);
    tools_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    bar->addWidget(tools_, 1);
    column->addLayout(bar);
    column->addWidget(bodies_, 1);
    connect(choice_, &QButtonGroup::idClicked, this, [this](int index) {
        show(index);
        QSettings().setValue(u"lab/view"_s, entries_[static_cast<std::size_t>(index)].name);
    });
    // Asked before a view is made, which takes them.
    const bool lessons = context_.commands != nullptr && context_.commands->hasLessons();
    show(0);
    showView(QSettings().value(u"lab/view"_s).toString());
    if (context_.commands == nullptr) return;
    connect(context_.commands, &Commands::lessonsOpened, this, [this] { showView(u"lessons"_s); });
    if (lessons) showView(u"lessons"_s);
}

void LabPage::showView(const QString& name) {
    const auto found = std::ranges::find(entries_, name, &LabViewEntry::name);
    if (found != entries_.end()) show(static_cast<int>(found - entries_.begin()));
}

QString LabPage::shownView() const {
    return entries_[static_cast<std::size_t>(choice_->checkedId())].name;
}

void LabPage::show(int index) {
    auto& view = views_[static_cast<std::size_t>(index)];
    if (view.body == nullptr) {
        view = entries_[static_cast<std::size_t>(index)].make(context_, this);
        bodies_->addWidget(view.body);
        tools_->addWidget(view.tools);
    }
    choice_->button(index)->setChecked(true);
    bodies_->setCurrentWidget(view.body);
    tools_->setCurrentWidget(view.tools);
}

}  // namespace ui
