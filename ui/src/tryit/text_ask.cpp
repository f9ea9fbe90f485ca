#include "tryit/text_ask.h"

#include <QElapsedTimer>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>

#include "theme/theme.h"
#include "widgets/flow_layout.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int narrowestText = 240;
constexpr int fieldWidth = 64;
constexpr int promptLines = 3;
constexpr int pieceMs = 50;  // between pieces of text that reach the screen

/// Puts text behind the rest, and scrolls there if the end was in sight.
void append(QPlainTextEdit* view, const std::string& text) {
    auto* bar = view->verticalScrollBar();
    const bool atEnd = bar->value() >= bar->maximum();
    QTextCursor end(view->document());
    end.movePosition(QTextCursor::End);
    end.insertText(QString::fromStdString(text));
    if (atEnd) bar->setValue(bar->maximum());
}

/// Collects what the model writes and hands it on a few times a second.
class Pieces {
public:
    Pieces(const ModelWorker::Ticket& ticket, QPlainTextEdit* view) : ticket_(ticket), view_(view) {
        clock_.start();
    }
    bool take(const std::string& piece) {
        text_ += piece;
        if (clock_.elapsed() >= pieceMs) flush();
        return !ticket_.stopped();
    }
    void flush() {
        if (!text_.empty())
            ticket_.post([view = view_, text = std::exchange(text_, {})] { append(view, text); });
        clock_.restart();
    }

private:
    const ModelWorker::Ticket& ticket_;
    QPlainTextEdit* view_;
    std::string text_;
    QElapsedTimer clock_;
};

}  // namespace

TextAsk::TextAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
                 QWidget* parent)
    : QWidget(parent), theme_(theme) {
    auto* column = makeColumn(this, {}, size::gap);
    column->addWidget(makeControls(form));
    columns_ = new RunColumns(theme_, models, narrowestText, this);
    column->addWidget(columns_, 1);
    for (RunColumn* each : columns_->columns()) {
        auto* view = new QPlainTextEdit(each);
        view->setReadOnly(true);
        view->setTabChangesFocus(true);
        view->setPlaceholderText(tr("The continuation appears here."));
        view->setAccessibleName(tr("Text of %1").arg(each->model()->title()));
        each->setBody(view);
        connect(each->model(), &TriedModel::changed, this, &TextAsk::refresh);
    }
    refresh();
}

QWidget* TextAsk::makeControls(const engine::InputForm& form) {
    auto* card = makeCard(this);
    auto* column =
        makeColumn(card, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    prompt_ = new QPlainTextEdit(card);
    prompt_->setAccessibleName(tr("Beginning of the text"));
    prompt_->setPlaceholderText(tr("Beginning of the text; may be empty"));
    prompt_->setTabChangesFocus(true);
    prompt_->setFixedHeight(fontMetrics().lineSpacing() * promptLines + 20);
    column->addWidget(prompt_);
    auto* row = new FlowLayout(nullptr, size::gap);
    const QString unit = form.tokens ? tr("Tokens") : form.words ? tr("Words") : tr("Characters");
    length_ = addField(row, unit, u"200"_s, tr("Length of the continuation."));
    temperature_ = addField(
        row, tr("Temperature"), u"0.8"_s,
        tr("0 always takes the most probable token; above 1 the text becomes more random."));
    topK_ = addField(row, tr("Top-k"), u"0"_s,
                     tr("Draws from the k most probable tokens; 0 draws from all."));
    seed_ = addField(row, tr("Seed"), u"1"_s, tr("The same seed gives the same text again."));
    go_ = withName(new QPushButton(tr("Generate"), card), u"generate"_s);
    stop_ = withName(new QPushButton(tr("Stop"), card), u"stop"_s);
    connect(go_, &QPushButton::clicked, this, &TextAsk::generate);
    connect(stop_, &QPushButton::clicked, this, &TextAsk::stop);
    addWidgets(row, {go_, stop_});
    column->addLayout(row);
    return card;
}

QLineEdit* TextAsk::addField(QLayout* row, const QString& label, const QString& value,
                             const QString& help) {
    auto* both = new QWidget(this);
    auto* line = makeRow(both, {}, 6);
    line->addWidget(makeLabel(label, "dim", both));
    auto* edit = new QLineEdit(value, both);
    edit->setFixedWidth(fieldWidth);
    edit->setAccessibleName(label);
    edit->setAccessibleDescription(help);
    edit->setToolTip(help);
    connect(edit, &QLineEdit::returnPressed, this, &TextAsk::generate);
    line->addWidget(edit);
    row->addWidget(both);
    return edit;
}

std::optional<engine::GenerateOptions> TextAsk::options() {
    engine::GenerateOptions out;
    out.prompt = prompt_->toPlainText().toStdString();
    bool valid = true;
    const auto check = [&](QLineEdit* edit, bool fits) {
        restyle(edit, "refused", !fits);
        valid = valid && fits;
    };
    bool number = false;
    out.length = length_->text().toLongLong(&number);
    check(length_, number && out.length > 0);
    out.temperature = temperature_->text().toDouble(&number);
    check(temperature_, number && out.temperature >= 0);
    out.top_k = topK_->text().toLongLong(&number);
    check(topK_, number && out.top_k >= 0);
    out.seed = seed_->text().toLongLong(&number);
    check(seed_, number);
    if (!valid) return std::nullopt;
    return out;
}

void TextAsk::generate() {
    const auto chosen = options();
    if (!chosen || isGenerating()) return;
    for (RunColumn* column : columns_->columns()) {
        if (!column->model()->facts()) continue;
        ++generating_;
        generateOne(column, *chosen);
    }
    refresh();
}

void TextAsk::generateOne(RunColumn* column, const engine::GenerateOptions& options) {
    auto* view = qobject_cast<QPlainTextEdit*>(column->body());
    column->showProblem({});
    view->setPlainText(QString::fromStdString(options.prompt));
    column->model()->worker()->ask(
        ModelWorker::Job::generate, this,
        [this, column, view, options](engine::TrainedModel& model,
                                      const ModelWorker::Ticket& ticket) {
            const auto note = model.unknown_in(options.prompt);
            ticket.post([column, note] { column->showProblem(noteText(note)); });
            Pieces pieces(ticket, view);
            model.generate(options, [&](const std::string& piece) { return pieces.take(piece); });
            pieces.flush();
            ticket.post([this] { ended(); });
        },
        [this, column](const engine::Error& error) {
            column->showProblem(errorText(error));
            ended();
        });
}

void TextAsk::stop() {
    for (RunColumn* column : columns_->columns())
        column->model()->worker()->stop(ModelWorker::Job::generate);
    generating_ = 0;
    refresh();
}

void TextAsk::ended() {
    generating_ = std::max(0, generating_ - 1);
    refresh();
}

void TextAsk::refresh() {
    const bool any = std::ranges::any_of(columns_->columns(), [](const RunColumn* column) {
        return column->model()->facts().has_value();
    });
    // Disabling a focused button moves the focus to the next widget of the window.
    const bool focus = go_->hasFocus() || stop_->hasFocus();
    go_->setEnabled(any && !isGenerating());
    stop_->setEnabled(isGenerating());
    if (focus) (isGenerating() ? stop_ : go_)->setFocus();
}

}  // namespace ui
