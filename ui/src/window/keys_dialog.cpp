#include "window/keys_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QPushButton>
#include <QTableWidget>

#include "pages/registry.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr QSize usualSize{520, 560};

}  // namespace

KeysDialog::KeysDialog(QWidget* parent)
    : QDialog(parent), table_(new QTableWidget(0, 3, this)), problem_(makeProse({}, "bad", this)) {
    setWindowTitle(tr("Keyboard shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(size::gap);
    auto* how = makeLabel(tr("Click into a field and press the new keys."), "dim", this);
    column->addWidget(how);
    table_->setHorizontalHeaderLabels({tr("Command"), tr("Keys"), QString()});
    table_->setAccessibleName(windowTitle());
    table_->verticalHeader()->hide();
    table_->setShowGrid(false);
    table_->setEditTriggers(QTableWidget::NoEditTriggers);
    table_->setSelectionMode(QTableWidget::NoSelection);
    table_->setFocusPolicy(Qt::NoFocus);
    table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    table_->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Fixed);
    table_->horizontalHeader()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    table_->setColumnWidth(1, usualSize.width() / 3);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    column->addWidget(table_, 1);
    problem_->setObjectName(u"keyProblem"_s);
    problem_->setTextFormat(Qt::PlainText);
    column->addWidget(problem_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* all = buttons->addButton(tr("All back to default"), QDialogButtonBox::ResetRole);
    connect(all, &QPushButton::clicked, this, [this] {
        KeyBindings::instance()->reset();
        problem_->clear();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    buttons->button(QDialogButtonBox::Close)->setFocus();
    column->addWidget(buttons);
    connect(KeyBindings::instance(), &KeyBindings::changed, this, &KeysDialog::showKeys);
    fill();
    showKeys();
    resize(usualSize);
}

/// "Twin: Resync", "Show Twin"; of a menu just its title.
QString KeysDialog::placed(const KeyBindings::Command& command) const {
    const QString place = command.id.section(u'/', 0, 0);
    if (place == u"page"_s) return tr("Show %1").arg(command.title);
    for (const auto& page : pageEntries()) {
        if (page.name == place) return page.title + u": "_s + command.title;
    }
    return command.title;
}

void KeysDialog::fill() {
    const auto commands = KeyBindings::instance()->commands();
    table_->setRowCount(static_cast<int>(commands.size()));
    for (int row = 0; row < table_->rowCount(); ++row) {
        const auto& command = commands[static_cast<std::size_t>(row)];
        table_->setItem(row, 0, new QTableWidgetItem(placed(command)));
        auto* edit = new QKeySequenceEdit(table_);
        edit->setObjectName(command.id);
        edit->setAccessibleName(tr("Keys of %1").arg(command.title));
        edit->setClearButtonEnabled(true);
        connect(edit, &QKeySequenceEdit::keySequenceChanged, this,
                [this, id = command.id, edit] { take(id, edit); });
        table_->setCellWidget(row, 1, edit);
        auto* back = makeLink(tr("default"), table_);
        back->setAccessibleName(tr("Default keys of %1").arg(command.title));
        connect(back, &QToolButton::clicked, this, [this, id = command.id] {
            problem_->clear();
            KeyBindings::instance()->reset(id);
        });
        table_->setCellWidget(row, 2, back);
    }
    table_->resizeRowsToContents();
}

void KeysDialog::take(const QString& id, QKeySequenceEdit* edit) {
    auto* bindings = KeyBindings::instance();
    const QKeySequence pressed = edit->keySequence();
    // The first of a series.
    const QKeySequence key = pressed.isEmpty() ? pressed : QKeySequence(pressed[0]);
    const auto* other = key.isEmpty() ? nullptr : bindings->userOf(key, id);
    problem_->setText(other == nullptr
                          ? QString()
                          : tr("%1 is the key of \"%2\". Choose another one, or change that first.")
                                .arg(key.toString(QKeySequence::NativeText), other->title));
    if (other != nullptr) return showKeys();
    bindings->choose(id, key.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{key});
}

void KeysDialog::showKeys() {
    const auto commands = KeyBindings::instance()->commands();
    for (int row = 0; row < table_->rowCount(); ++row) {
        auto* edit = qobject_cast<QKeySequenceEdit*>(table_->cellWidget(row, 1));
        const auto found =
            std::ranges::find(commands, edit->objectName(), &KeyBindings::Command::id);
        if (found == commands.end()) continue;
        const QSignalBlocker quiet(edit);
        const QList<QKeySequence> now = found->now();
        const QKeySequence key = now.isEmpty() ? QKeySequence() : now.front();
        if (edit->keySequence() != key) edit->setKeySequence(key);
        const bool usual = now == found->usual;
        // Not hidden: a table shows its widgets again.
        auto* back = qobject_cast<QToolButton*>(table_->cellWidget(row, 2));
        back->setText(usual ? QString() : tr("default"));
        back->setEnabled(!usual);
    }
}

}  // namespace ui
