#include "runs/run_details.h"

#include <QEvent>
#include <QFormLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTableView>
#include <utility>

#include "commands/run_history.h"
#include "models/difference_model.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "text/run_text.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int notesHeight = 72;
constexpr std::size_t maxRuns = 8;  // side by side
constexpr int valueWidth = 80;

/// Puts a text into a field that the user is not in.
template <typename Field, typename Set>
void fill(Field* field, QString& saved, const std::string& text, Set set) {
    const QString wanted = QString::fromStdString(text);
    if (field->hasFocus() || saved == wanted) return;
    saved = wanted;
    (field->*set)(wanted);
}

}  // namespace

RunDetails::RunDetails(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context), model_(new DifferenceModel(this)) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::inside, size::gap, size::inside, size::gap}, size::gap);
    head_ = new ElidedLabel(this);
    head_->setFont(Theme::bold());
    column->addWidget(head_);
    words_ = makeProse({}, "dim", this);
    column->addWidget(words_);
    form_ = makeForm();
    column->addWidget(form_);
    makeTable();
    column->addWidget(table_, 1);
    column->addStretch(0);
    setRuns({});
}

QWidget* RunDetails::makeForm() {
    auto* form = new QWidget(this);
    auto* rows = new QFormLayout(form);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(size::grid + 2);
    title_ = new QLineEdit(form);
    tags_ = new QLineEdit(form);
    notes_ = new QPlainTextEdit(form);
    title_->setObjectName(u"runTitle"_s);
    tags_->setObjectName(u"runTags"_s);
    notes_->setObjectName(u"runNotes"_s);
    title_->setAccessibleName(tr("Name"));
    tags_->setAccessibleName(tr("Tags"));
    notes_->setAccessibleName(tr("Notes"));
    tags_->setPlaceholderText(tr("separated by commas"));
    notes_->setTabChangesFocus(true);
    notes_->setFixedHeight(notesHeight);
    const auto row = [&](const QString& name, QWidget* field) {
        auto* label = makeLabel(name, "dim", form);
        label->setBuddy(field);
        rows->addRow(label, field);
    };
    row(tr("Name"), title_);
    row(tr("Tags"), tags_);
    row(tr("Notes"), notes_);
    connect(title_, &QLineEdit::editingFinished, this, &RunDetails::saveTitle);
    connect(tags_, &QLineEdit::editingFinished, this, &RunDetails::saveTags);
    notes_->installEventFilter(this);
    return form;
}

void RunDetails::makeTable() {
    table_ = makePlainTable(u"differences"_s, model_, this);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setAccessibleName(tr("Figures and settings"));
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(QFontMetrics(font()).height() + size::gap);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setMinimumSectionSize(valueWidth / 2);
}

void RunDetails::setRuns(const std::vector<engine::RunSummary>& runs) {
    if (!run_.empty() && (runs.size() != 1 || runs.front().run != run_)) leave();
    const bool one = runs.size() == 1;
    form_->setVisible(one);
    head_->setVisible(!runs.empty());
    table_->setVisible(!runs.empty());
    const std::size_t shown = std::min(runs.size(), maxRuns);
    model_->setRuns({runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(shown)});
    words_->setVisible(runs.empty() || shown < runs.size());
    if (runs.empty())
        words_->setText(
            tr("Select one run to name it and to see its settings, or several to see how they "
               "differ."));
    else
        words_->setText(tr("The first %1 of %2 selected runs").arg(shown).arg(runs.size()));
    if (one)
        fillForm(runs.front());
    else
        head_->setText(tr("%1 runs").arg(count(static_cast<std::int64_t>(runs.size()))));
    table_->clearSpans();
    for (int row = 0; row < model_->rowCount(); ++row) {
        if (model_->index(row, 0).data(DifferenceModel::PartRole).toBool())
            table_->setSpan(row, 0, 1, model_->columnCount());
    }
    table_->horizontalHeader()->setVisible(!one);
    fitColumns();
}

/// The names as wide as they are, within limits; the runs share the rest.
void RunDetails::fitColumns() {
    const int runs = model_->columnCount() - 1;
    if (runs < 1) return;
    auto* head = table_->horizontalHeader();
    const int room = table_->viewport()->width();
    int widest = 0;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QModelIndex name = model_->index(row, 0);
        if (name.data(DifferenceModel::PartRole).toBool()) continue;
        widest = std::max(widest, fontMetrics().horizontalAdvance(name.data().toString()));
    }
    const int names =
        std::clamp(widest + 2 * size::gap, valueWidth, std::max(room / 2, valueWidth));
    head->resizeSection(0, names);
    for (int run = 1; run <= runs; ++run)
        head->resizeSection(run, std::max(valueWidth, (room - names) / runs));
}

void RunDetails::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fitColumns();
}

void RunDetails::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    fitColumns();
}

void RunDetails::fillForm(const engine::RunSummary& run) {
    if (run_ != run.run) {
        for (QWidget* field : {static_cast<QWidget*>(title_), static_cast<QWidget*>(tags_),
                               static_cast<QWidget*>(notes_)})
            field->clearFocus();
        run_ = run.run;
        savedTitle_ = savedTags_ = savedNotes_ = QString(QChar(0));  // of no run
    }
    head_->setText(tr("Run %1").arg(QString::fromStdString(run.run)) + u" · "_s +
                   precisionTitle(run.config.precision) + u" · "_s + stateText(run));
    fill(title_, savedTitle_, run.title, &QLineEdit::setText);
    fill(tags_, savedTags_, run.tags, &QLineEdit::setText);
    fill(notes_, savedNotes_, run.notes, &QPlainTextEdit::setPlainText);
}

/// Each change tells the table, which may show another run here at once: all texts are read first.
void RunDetails::leave() {
    const std::string run = std::exchange(run_, {});
    const QString title = title_->text().simplified(), tags = tags_->text().simplified(),
                  notes = notes_->toPlainText();
    const bool other[] = {title != savedTitle_, tags != savedTags_, notes != savedNotes_};
    if (other[0]) context_.history->setTitle(run, title);
    if (other[1]) context_.history->setTags(run, tags);
    if (other[2]) context_.history->setNotes(run, notes);
}

void RunDetails::saveTitle() {
    const QString text = title_->text().simplified();
    if (run_.empty() || text == savedTitle_) return;
    savedTitle_ = text;
    context_.history->setTitle(run_, text);
}

void RunDetails::saveTags() {
    const QString text = tags_->text().simplified();
    if (run_.empty() || text == savedTags_) return;
    savedTags_ = text;
    context_.history->setTags(run_, text);
}

void RunDetails::saveNotes() {
    const QString text = notes_->toPlainText();
    if (run_.empty() || text == savedNotes_) return;
    savedNotes_ = text;
    context_.history->setNotes(run_, text);
}

bool RunDetails::eventFilter(QObject* watched, QEvent* event) {
    if (watched == notes_ && event->type() == QEvent::FocusOut) saveNotes();
    return QFrame::eventFilter(watched, event);
}

}  // namespace ui
