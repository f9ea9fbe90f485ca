#include "network/network_sheet.h"

#include <QLineEdit>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>

#include "network/network_columns.h"
#include "network/network_drawing.h"
#include "network/network_editor.h"
#include "network/network_highlighter.h"
#include "network/network_model.h"
#include "network/network_overview.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int narrowBelow = 1100, allBelow = 1280;

}  // namespace

NetworkSheet::NetworkSheet(const Theme* theme, NetworkModel* model, QWidget* parent)
    : QFrame(parent),
      model_(model),
      editor_(new NetworkEditor(theme, model, this)),
      columns_(new NetworkColumns(theme, model, editor_, this)),
      drawing_(new NetworkDrawing(theme, model, editor_, this)),
      overview_(new NetworkOverview(theme, model, editor_, this)),
      bar_(new QScrollBar(Qt::Vertical, this)) {
    setObjectName(u"card"_s);
    new NetworkHighlighter(theme, model->document(), this);
    auto* row = makeRow(this, {1, 1, 1, 1}, 0);
    row->addWidget(makeText(), 2);
    row->addWidget(columns_);
    row->addWidget(drawing_, 1);
    row->addWidget(overview_);
    row->addWidget(bar_);
    bar_->setFocusPolicy(Qt::NoFocus);
    followScrolling();
    connect(columns_, &NetworkColumns::xrayWanted, this, &NetworkSheet::xrayWanted);
    connect(model, &NetworkModel::checked, this, &NetworkSheet::showNote);
    showNote();
}

QWidget* NetworkSheet::makeText() {
    auto* part = new QWidget(this);
    auto* column = makeColumn(part, {}, 0);
    auto* head = new QWidget(part);
    head->setFixedHeight(NetworkColumns::headHeight());
    auto* row = makeRow(head, {size::inside, 0, size::gap, 0}, size::gap);
    note_ = new ElidedLabel(this);
    row->addWidget(makeTitle(tr("Text")));
    row->addWidget(note_, 1);
    all_ = new QToolButton(head);
    all_->setAutoRaise(true);
    all_->setCheckable(true);
    all_->setText(tr("all layers"));
    all_->setChecked(QSettings().value(u"network/all"_s, true).toBool());
    connect(all_, &QToolButton::toggled, this, [this](bool shown) {
        QSettings().setValue(u"network/all"_s, shown);
        fitWidth();
    });
    runText_ = new QToolButton(head);
    runText_->setAutoRaise(true);
    row->addWidget(runText_);
    connect(runText_, &QToolButton::clicked, this, &NetworkSheet::runTextWanted);
    find_ = new QLineEdit(head);
    find_->setPlaceholderText(tr("find (Ctrl+F)"));
    find_->setAccessibleName(tr("Find in the text"));
    find_->setFixedWidth(find_->fontMetrics().horizontalAdvance(find_->placeholderText()) + 2 * size::inside + size::gap);
    find_->installEventFilter(this);
    addWidgets(row, {all_, find_});
    connect(find_, &QLineEdit::returnPressed, this, [this] { findNext(false); });
    column->addWidget(head);
    auto* rule = withName(new QFrame(part), u"rule"_s);
    column->addWidget(rule);
    column->addWidget(editor_, 1);
    return part;
}

void NetworkSheet::find() {
    if (const QString chosen = editor_->textCursor().selectedText(); !chosen.isEmpty() && !chosen.contains(QChar::ParagraphSeparator)) find_->setText(chosen);
    find_->setFocus();
    find_->selectAll();
}

/// Begins again at the other end.
void NetworkSheet::findNext(bool backward) {
    const auto way = backward ? QTextDocument::FindBackward : QTextDocument::FindFlags();
    bool found = editor_->find(find_->text(), way);
    if (!found) {
        const QTextCursor before = editor_->textCursor();
        editor_->moveCursor(backward ? QTextCursor::End : QTextCursor::Start);
        found = editor_->find(find_->text(), way);
        if (!found) editor_->setTextCursor(before);
    }
    restyle(find_, "refused", !found && !find_->text().isEmpty());
}

/// Esc leads back to the text, Shift+Enter to the place before.
bool NetworkSheet::eventFilter(QObject* watched, QEvent* event) {
    if (watched != find_ || event->type() != QEvent::KeyPress) return QFrame::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (key->key() == Qt::Key_Escape)
        editor_->setFocus();
    else if (enter && key->modifiers() == Qt::ShiftModifier)
        findNext(true);
    else
        return false;
    return true;
}

void NetworkSheet::followScrolling() {
    QScrollBar* own = editor_->verticalScrollBar();
    const auto follow = [this, own] {
        bar_->setRange(own->minimum(), own->maximum());
        bar_->setPageStep(own->pageStep());
        bar_->setValue(own->value());
        bar_->setVisible(own->maximum() > own->minimum());
    };
    connect(own, &QScrollBar::rangeChanged, this, follow);
    connect(own, &QScrollBar::valueChanged, this, follow);
    connect(bar_, &QScrollBar::valueChanged, own, &QScrollBar::setValue);
    follow();
}

QString NetworkSheet::runTextTitle(const QString& run) { return tr("text of %1").arg(run); }

void NetworkSheet::showNote() {
    const auto faults = model_->faults().size();
    const auto notes = model_->now().network.faults.size() - faults;
    restyle(note_, "role", faults > 0 ? u"bad"_s : u"dim"_s);
    runText_->setVisible(!model_->comparedRun().isEmpty() && !model_->changed().empty());
    runText_->setText(runTextTitle(model_->comparedRun()));
    if (faults > 0)
        note_->setText(faults == 1 ? tr("1 error") : tr("%1 errors").arg(count(std::int64_t(faults))));
    else if (const QString run = model_->comparedRun(); !run.isEmpty())
        note_->setText(model_->changed().empty()       ? tr("the text of %1").arg(run)
                       : model_->changed().size() == 1 ? tr("1 line differs from %1").arg(run)
                                                       : tr("%1 lines differ from %2").arg(count(std::ssize(model_->changed())), run));
    else
        note_->setText(notes == 0 ? tr("no errors") : notes == 1 ? tr("1 note") : tr("%1 notes").arg(count(std::int64_t(notes))));
}

void NetworkSheet::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitWidth();
}

/// All layers give way first, then the cost of the forward pass.
void NetworkSheet::fitWidth() {
    const auto isBelow = [this](int pixels) { return width() < Theme::foldWidth() * pixels / size::foldBelow; };
    all_->setVisible(!isBelow(allBelow));
    overview_->setVisible(all_->isChecked() && !isBelow(allBelow));
    columns_->setNarrow(isBelow(narrowBelow));
}

}  // namespace ui
