// Objects that a screen reader finds on every page, and widgets that the keyboard alone reaches.
#include <QAbstractButton>
#include <QAccessible>
#include <QButtonGroup>
#include <QComboBox>
#include <QLabel>
#include <QPointer>
#include <algorithm>
#include <set>

#include "microscope/layer_map.h"
#include "pages/page_stack.h"
#include "text/spoken.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SpokenTest : WindowFixture {
    /// A finished comparison on screen, with a skipped step.
    void train() {
        settings.load(engine::parse_run_config(
                          R"({"dataset": {"kind": "spirals", "train_limit": 64},
                              "model": {"kind": "mlp"}, "batch_size": 32, "max_steps": 2,
                              "scaler": {"init_scale": 1099511627776}})")
                          .config,
                      {u"fp32"_s, u"amp-fp16"_s});
        commands.compare();
        ASSERT_TRUE(
            QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
        QCoreApplication::processEvents();
    }

    /// Calls f(page) with each page shown.
    template <typename F>
    void onEachPage(F&& f) {
        auto* stack = window->findChild<PageStack*>();
        for (const auto& page : pageEntries()) {
            stack->showPage(page.name);
            ASSERT_EQ(stack->shown().name, page.name);
            QCoreApplication::processEvents();
            f(page.name.toStdString());
        }
    }

    static bool takesInput(QAccessible::Role role) {
        using R = QAccessible;
        const std::set<R::Role> roles{R::PushButton,     R::CheckBox, R::RadioButton, R::ComboBox,
                                      R::EditableText,   R::SpinBox,  R::Slider,      R::ButtonMenu,
                                      R::ButtonDropDown, R::List,     R::Table,       R::Tree,
                                      R::PageTab,        R::MenuItem};
        return roles.contains(role);
    }

    /// The property that such an object lacks; empty: none.
    static std::string lack(QAccessibleInterface* object) {
        if (object->text(QAccessible::Name).trimmed().isEmpty()) return "a name";
        const auto role = object->role();
        if (role == QAccessible::Slider || role == QAccessible::SpinBox)
            return object->valueInterface() != nullptr ? "" : "a value";
        if (role == QAccessible::EditableText)
            return object->textInterface() != nullptr ? "" : "a text";
        const auto* combo = qobject_cast<QComboBox*>(object->object());
        if (combo != nullptr && combo->currentIndex() >= 0) {
            if (object->text(QAccessible::Value).isEmpty()) return "a value";
            return object->text(QAccessible::Name) == combo->currentText() ? "a name" : "";
        }
        return "";
    }

    /// Objects of the tree that are seen, with what they lack.
    void walk(QAccessibleInterface* object, const std::string& where, int& found) {
        if (object == nullptr || !object->isValid() || object->state().invisible) return;
        if (takesInput(object->role())) {
            ++found;
            const std::string lacks = lack(object);
            const QObject* made = object->object();
            EXPECT_EQ(lacks, "") << where << ": "
                                 << (made != nullptr ? made->metaObject()->className() : "")
                                 << " lacks " << lacks << ", role " << object->role() << ", in "
                                 << (made != nullptr && made->parent() != nullptr
                                         ? made->parent()->metaObject()->className()
                                         : "");
        }
        // Cells of tables and lists have the words that they show.
        const auto role = object->role();
        if (role == QAccessible::Table || role == QAccessible::Tree || role == QAccessible::List)
            return;
        for (int i = 0; i < object->childCount(); ++i) walk(object->child(i), where, found);
    }

    /// The Tab key alone leads to every control of the page.
    void walkByTab(const std::string& page) {
        std::vector<QPointer<QWidget>> wanted;
        for (auto* widget : window->findChildren<QWidget*>()) {
            const bool stop = widget->isVisible() && widget->isEnabled() &&
                              (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus &&
                              widget->focusProxy() == nullptr &&
                              !widget->objectName().startsWith(u"qt_"_s) &&
                              widget->window() == window.get();
            if (stop) wanted.emplace_back(widget);
        }
        QWidget* first = window->focusWidget();
        std::set<QWidget*> reached;
        for (std::size_t i = 0; i < 3 * wanted.size() + 20; ++i) {
            QWidget* from = window->focusWidget();
            QTest::keyClick(from != nullptr ? from : window.get(), Qt::Key_Tab);
            reached.insert(window->focusWidget());
            if (window->focusWidget() == first && i > wanted.size()) break;
        }
        for (const QPointer<QWidget>& widget : wanted) {
            if (widget == nullptr) continue;  // replaced on the way
            // One of the buttons of a group is a stop; the arrow keys go on from it.
            const auto* button = qobject_cast<QAbstractButton*>(widget.data());
            if (button != nullptr && button->autoExclusive()) continue;
            if (button != nullptr && button->group() != nullptr) {
                EXPECT_TRUE(std::ranges::any_of(button->group()->buttons(),
                                                [&](auto* each) { return reached.contains(each); }))
                    << page << ": " << button->text().toStdString();
                continue;
            }
            EXPECT_TRUE(reached.contains(widget))
                << page << ": " << widget->metaObject()->className() << " "
                << widget->accessibleName().toStdString() << " "
                << (button != nullptr ? button->text().toStdString() : "") << " is not reached";
        }
    }
};

// One test, since opening the pages takes most of its time.
TEST_F(SpokenTest, EveryObjectOfEveryPageHasANameAndAValueAndIsReachedByTheTabKey) {
    train();
    int found = 0;
    onEachPage([&](const std::string& page) {
        walk(QAccessible::queryAccessibleInterface(window.get()), page, found);
        for (auto* widget : window->findChildren<QWidget*>()) {
            if (!widget->isVisible() || dynamic_cast<Spoken*>(widget) == nullptr) continue;
            auto* heard = QAccessible::queryAccessibleInterface(widget);
            EXPECT_FALSE(heard->text(QAccessible::Name).isEmpty())
                << page << ": " << widget->metaObject()->className();
            EXPECT_FALSE(heard->text(QAccessible::Description).isEmpty())
                << page << ": " << widget->metaObject()->className();
        }
        for (auto* label : window->findChildren<QLabel*>()) {
            if (!label->isVisible() || label->accessibleName().isEmpty() ||
                label->text().isEmpty() || Qt::mightBeRichText(label->text()))
                continue;
            EXPECT_TRUE(QAccessible::queryAccessibleInterface(label)
                            ->text(QAccessible::Name)
                            .contains(label->text().trimmed()))
                << page << ": the value of " << label->accessibleName().toStdString();
        }
        walkByTab(page);
    });
    EXPECT_GT(found, 200);
    EXPECT_EQ(window->findChildren<ShareLegend*>().size(), 2) << "of both maps of Microscope";
}

}  // namespace
}  // namespace ui
