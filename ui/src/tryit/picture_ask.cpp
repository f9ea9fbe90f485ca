#include "tryit/picture_ask.h"

#include <QFileDialog>
#include <QPushButton>

#include "feed/background_task.h"
#include "theme/theme.h"
#include "tryit/answer_view.h"
#include "widgets/choices.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int narrowestPicture = 240;
constexpr int askPictureAfterMs = 40;
constexpr int largestDrawn = 64;  // pixels a side of a model that pictures are drawn for
constexpr int seenSize = 84;

bool drawable(const engine::InputForm& form) {
    return form.channels == 1 && form.width <= largestDrawn && form.height <= largestDrawn;
}

}  // namespace

PictureAsk::PictureAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
                       QWidget* parent)
    : QWidget(parent), theme_(theme), form_(form) {
    auto* row = makeRow(this, {}, size::gap);
    row->addLayout(makeLeft());
    columns_ = new RunColumns(theme_, models, narrowestPicture, this);
    row->addWidget(columns_, 1);
    for (RunColumn* column : columns_->columns()) {
        auto* view = new AnswerView(theme_, column->model()->precision(), column);
        view->showNote(tr("The answer appears here."));
        column->setBody(view);
        connect(column->model(), &TriedModel::changed, &soon_, qOverload<>(&QTimer::start));
    }
    soon_.setSingleShot(true);
    soon_.setInterval(askPictureAfterMs);
    connect(&soon_, &QTimer::timeout, this, &PictureAsk::ask);
    connect(board_, &DrawBoard::edited, this, [this] {
        if (!soon_.isActive()) soon_.start();  // answers come while the pen moves
    });
    connect(board_, &DrawBoard::fileDropped, this, &PictureAsk::openFile);
}

QLayout* PictureAsk::makeLeft() {
    auto* column = makeColumn(size::gap);
    auto* card = makeCard(this);
    auto* inside =
        makeColumn(card, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    board_ = new DrawBoard(theme_, form_.width, form_.height, drawable(form_), card);
    board_->setFixedWidth(board_->sizeHint().width());
    board_->setFixedHeight(board_->sizeHint().height());
    inside->addWidget(board_);
    inside->addLayout(makeButtons());
    problem_ = makeLabel({}, "caution", card);
    problem_->setWordWrap(true);
    problem_->setTextFormat(Qt::PlainText);
    problem_->setMaximumWidth(board_->sizeHint().width());
    problem_->hide();
    inside->addWidget(problem_);
    auto* seenRow = new QHBoxLayout;
    seen_ = new QLabel(card);
    seen_->setFixedSize(seenSize, seenSize);
    seen_->setAccessibleName(tr("The picture as the model sees it"));
    auto* words = makeLabel(
        tr("As the model sees it: %1 × %2 pixels").arg(form_.width).arg(form_.height), "dim", card);
    words->setFont(Theme::caption());
    words->setWordWrap(true);
    seenRow->addWidget(seen_);
    seenRow->addWidget(words, 1);
    inside->addLayout(seenRow);
    column->addWidget(card);
    column->addStretch();
    return column;
}

QLayout* PictureAsk::makeButtons() {
    auto* rows = makeColumn(size::gap);
    auto* row = new QHBoxLayout;
    auto* file = new QPushButton(tr("Open picture…"), this);
    connect(file, &QPushButton::clicked, this, &PictureAsk::chooseFile);
    if (drawable(form_)) {
        auto* pen = new ChoiceBox(this);
        pen->setAccessibleName(tr("Pen"));
        pen->addItem(tr("Thin pen"), 1.5);
        pen->addItem(tr("Medium pen"), 2.5);
        pen->addItem(tr("Wide pen"), 6.0);
        pen->setCurrentIndex(1);
        connect(pen, &QComboBox::currentIndexChanged, board_,
                [this, pen] { board_->setPen(pen->currentData().toDouble()); });
        auto* undo = new QPushButton(tr("Undo"), this);
        auto* clear = withName(new QPushButton(tr("Clear"), this), u"clear"_s);
        connect(undo, &QPushButton::clicked, board_, &DrawBoard::undo);
        connect(clear, &QPushButton::clicked, board_, &DrawBoard::clear);
        row->addWidget(pen, 1);
        addWidgets(row, {undo, clear});
        rows->addLayout(row);
    }
    rows->addWidget(file);
    return rows;
}

void PictureAsk::chooseFile() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open picture"), {}, tr("Pictures (*.png *.jpg *.jpeg);;All files (*)"));
    if (!file.isEmpty()) openFile(file);
}

void PictureAsk::openFile(const QString& file) {
    inBackground(
        this,
        [path = file.toStdString(), form = form_] {
            return engine::fit_to(form, engine::load_picture(path, form.alpha));
        },
        [this](const Outcome<engine::Picture>& loaded) {
            problem_->setVisible(loaded.error.has_value());
            if (loaded.error) return problem_->setText(errorText(*loaded.error));
            board_->show(*loaded.result);
        });
}

void PictureAsk::ask() {
    const bool blank = board_->isBlank();
    const engine::Picture picture = board_->picture();
    bool first = true;
    for (RunColumn* column : columns_->columns()) {
        auto* view = qobject_cast<AnswerView*>(column->body());
        if (blank) view->showNote(tr("The answer appears here."));
        if (blank || !column->model()->facts()) continue;
        askOne(column, picture, std::exchange(first, false));
    }
    if (blank) seen_->clear();
}

void PictureAsk::askOne(RunColumn* column, const engine::Picture& picture, bool first) {
    column->ask(
        this,
        [picture, first, form = form_](engine::TrainedModel& model) {
            const engine::Answer answer = model.answer(picture, /*framed=*/true);
            return std::pair(answer, first ? engine::fitted(picture, form.width, form.height)
                                           : engine::Picture{});
        },
        [this, column](const auto& found) {
            const auto& [answer, seen] = found;
            if (!seen.rgb.empty()) showSeen(seen);
            if (board_->isBlank() || !column->model()->facts()) return;
            qobject_cast<AnswerView*>(column->body())->show(answer, *column->model()->facts());
        });
}

void PictureAsk::showSeen(const engine::Picture& seen) {
    QImage image(seen.rgb.data(), seen.width, seen.height, seen.width * 3, QImage::Format_RGB888);
    if (form_.channels == 1) image = image.convertToFormat(QImage::Format_Grayscale8);
    const qreal scale = devicePixelRatioF();
    const bool small = seen.width <= largestDrawn;
    QPixmap pixmap =
        QPixmap::fromImage(image.scaled(seen_->size() * scale, Qt::KeepAspectRatio,
                                        small ? Qt::FastTransformation : Qt::SmoothTransformation));
    pixmap.setDevicePixelRatio(scale);
    seen_->setPixmap(pixmap);
}

}  // namespace ui
