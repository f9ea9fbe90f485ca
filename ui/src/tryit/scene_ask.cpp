#include "tryit/scene_ask.h"

#include <QAction>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableView>
#include <QUrl>
#include <cmath>

#include "feed/background_task.h"
#include "theme/theme.h"
#include "tryit/scene_view.h"
#include "widgets/choices.h"
#include "widgets/flow_layout.h"
#include "widgets/key_bindings.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"
#include "widgets/picture_view.h"

namespace ui {
namespace {

constexpr int narrowestScene = 220, sideWidth = 330;
constexpr int scoreSteps = 100, opacitySteps = 100;
constexpr std::size_t mostChips = 24;  // classes that can be hidden one by one

/// The pixels of a picture that was pasted, as of one that was read from a file.
engine::Picture pictureOf(QImage image, engine::Alpha alpha) {
    if (image.hasAlphaChannel() && alpha == engine::Alpha::over_white) {
        QImage paper(image.size(), QImage::Format_RGB32);
        paper.fill(Qt::white);
        QPainter(&paper).drawImage(0, 0, image);
        image = paper;
    }
    image = image.convertToFormat(QImage::Format_RGB888);
    engine::Picture out{image.width(), image.height(), {}};
    const auto row = static_cast<std::size_t>(image.width()) * 3;
    out.rgb.reserve(row * static_cast<std::size_t>(image.height()));
    for (int y = 0; y < image.height(); ++y)
        out.rgb.insert(out.rgb.end(), image.constScanLine(y), image.constScanLine(y) + row);
    return out;
}

/// A class's square: hollow while the class is hidden.
QPixmap chipMark(std::int32_t label, bool shown) {
    QPixmap mark(size::mark, size::mark);
    mark.fill(shown ? classColor(label) : QColor(Qt::transparent));
    QPainter painter(&mark);
    painter.setPen(classColor(label));
    painter.drawRect(0, 0, size::mark - 1, size::mark - 1);
    return mark;
}

QString droppedFile(const QMimeData* data) {
    const auto urls = data->urls();
    return urls.size() == 1 && urls.front().isLocalFile() ? urls.front().toLocalFile() : QString();
}

}  // namespace

SceneAsk::SceneAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
                   QWidget* parent)
    : QWidget(parent), theme_(theme), form_(form), lens_(new SceneLens(this)) {
    setAcceptDrops(true);
    auto* row = makeRow(this, {}, size::gap);
    columns_ = new RunColumns(theme_, models, narrowestScene, this);
    answers_.resize(columns_->columns().size());
    for (std::size_t run = 0; run < answers_.size(); ++run) {
        RunColumn* column = columns_->columns()[run];
        auto* body = new QWidget(column);
        auto* inside = makeColumn(body, {}, size::grid);
        views_.push_back(new SceneView(theme_, lens_, body));
        summaries_.push_back(makeProse({}, "dim", body));
        summaries_.back()->setTextFormat(Qt::PlainText);
        summaries_.back()->setAccessibleName(tr("What was found"));
        inside->addWidget(views_.back(), 1);
        inside->addWidget(summaries_.back());
        column->setBody(body);
        connect(column->model(), &TriedModel::changed, this, [this, run] {
            addClasses();
            ask(run);
        });
        connect(views_.back(), &SceneView::chosen, this, [this](int object) {
            list_->selectRow(table_->rowOf(object));
            lens_->highlight(object);
        });
    }
    row->addWidget(columns_, 1);
    row->addWidget(makeSide());
    makeKeys();
    connect(lens_, &SceneLens::changed, this, &SceneAsk::refresh);
    addClasses();
    refresh();
}

QWidget* SceneAsk::makeSide() {
    auto* card = makeCard(this);
    card->setFixedWidth(std::max(sideWidth, fontMetrics().averageCharWidth() * 46));
    auto* column =
        makeColumn(card, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    column->addLayout(makeButtons());
    problem_ = makeProse({}, "caution", card);
    problem_->setTextFormat(Qt::PlainText);
    problem_->hide();
    column->addWidget(problem_);
    size_ = makeSmall({}, "dim", card);
    column->addWidget(size_);

    scoreText_ = makeLabel({}, nullptr, card);
    score_ = withName(new QSlider(Qt::Horizontal, card), u"score"_s);
    score_->setRange(0, scoreSteps);
    score_->setPageStep(10);
    score_->setAccessibleName(tr("Least score"));
    score_->setToolTip(tr("Objects with a lower score are not drawn. Keys: comma and full stop."));
    connect(score_, &QSlider::valueChanged, this,
            [this](int value) { lens_->setScore(static_cast<double>(value) / scoreSteps); });
    addWidgets(column, {scoreText_, score_});

    auto* masks = withName(new CheckBox(tr("Masks"), card), u"masks"_s);
    masks->setChecked(lens_->masks());
    connect(masks, &QCheckBox::toggled, lens_, &SceneLens::setMasks);
    auto* opacity = withName(new QSlider(Qt::Horizontal, card), u"opacity"_s);
    opacity->setRange(0, opacitySteps);
    opacity->setValue(static_cast<int>(std::lround(lens_->opacity() * opacitySteps)));
    opacity->setAccessibleName(tr("Opacity of the masks"));
    connect(opacity, &QSlider::valueChanged, this,
            [this](int value) { lens_->setOpacity(static_cast<double>(value) / opacitySteps); });
    connect(masks, &QCheckBox::toggled, opacity, &QWidget::setEnabled);
    auto* maskRow = makeRow(size::gap);
    addWidgets(maskRow, {masks, makeSmall(tr("Opacity"), "dim", card)});
    maskRow->addWidget(opacity, 1);
    column->addLayout(maskRow);

    chips_ = new QWidget(card);
    chipRow_ = new FlowLayout(chips_, size::grid);
    column->addWidget(chips_);
    column->addWidget(makeTable(), 1);
    return card;
}

QLayout* SceneAsk::makeButtons() {
    auto* row = makeRow(size::gap);
    auto* open = withName(new QPushButton(tr("Open picture…"), this), u"open"_s);
    auto* paste = withName(new QPushButton(tr("Paste"), this), u"paste"_s);
    connect(open, &QPushButton::clicked, this, &SceneAsk::chooseFile);
    connect(paste, &QPushButton::clicked, this, &SceneAsk::paste);
    addPageKey(this, u"tryit/open"_s, Qt::CTRL | Qt::Key_O, open);
    addPageKey(this, u"tryit/paste"_s, Qt::CTRL | Qt::Key_V, paste);
    row->addWidget(open, 1);
    row->addWidget(paste);
    return row;
}

QWidget* SceneAsk::makeTable() {
    table_ = new SceneTable(lens_, this);
    list_ = makePlainTable(u"sceneObjects"_s, table_, this);
    list_->setAccessibleName(tr("Objects"));
    list_->setMouseTracking(true);
    list_->setMinimumHeight(Theme::rowHeight(24) * 4);
    list_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list_->horizontalHeader()->setHighlightSections(false);
    const auto highlight = [this](const QModelIndex& index) {
        lens_->highlight(index.isValid() ? index.data(Qt::UserRole).toInt() : -1);
    };
    connect(list_, &QTableView::entered, this, highlight);
    connect(list_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, highlight);
    connect(list_, &QTableView::clicked, this, highlight);
    return list_;
}

void SceneAsk::makeKeys() {
    const auto step = [this](int by) {
        return [this, by] { score_->setValue(score_->value() + by); };
    };
    addPageKey(this, u"tryit/lower-score"_s, tr("Lower score"), {Qt::Key_Comma}, step(-1));
    addPageKey(this, u"tryit/higher-score"_s, tr("Higher score"), {Qt::Key_Period}, step(1));
    addPageKey(this, u"tryit/much-lower-score"_s, tr("Score lower by 0.1"),
               {QKeySequence(Qt::SHIFT | Qt::Key_Comma)}, step(-10));
    addPageKey(this, u"tryit/much-higher-score"_s, tr("Score higher by 0.1"),
               {QKeySequence(Qt::SHIFT | Qt::Key_Period)}, step(10));
    addPageKey(this, u"tryit/masks"_s, tr("Masks on or off"), {Qt::Key_M},
               [this] { findChild<CheckBox*>(u"masks"_s)->toggle(); });
}

std::vector<std::string> SceneAsk::classes() const {
    for (const RunColumn* column : columns_->columns()) {
        if (column->model()->facts()) return column->model()->facts()->classes;
    }
    return {};
}

/// A switch for each class, once the first model is open.
void SceneAsk::addClasses() {
    const auto names = classes();
    if (chipRow_->count() > 0 || names.size() < 2 || names.size() > mostChips) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto label = static_cast<std::int32_t>(i + 1);
        auto* chip = withName(new QToolButton(chips_), u"chip"_s);
        chip->setIcon(chipMark(label, true));
        chip->setText(className(names, i));
        chip->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        chip->setCheckable(true);
        chip->setChecked(true);
        chip->setAccessibleName(tr("Show %1").arg(chip->text()));
        connect(chip, &QToolButton::toggled, this, [this, chip, label](bool shown) {
            chip->setIcon(chipMark(label, shown));
            lens_->setShown(label, shown);
        });
        chipRow_->addWidget(chip);
    }
}

void SceneAsk::chooseFile() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open picture"), {}, tr("Pictures (*.png *.jpg *.jpeg);;All files (*)"));
    if (!file.isEmpty()) openFile(file);
}

void SceneAsk::paste() {
    if (take(QGuiApplication::clipboard()->mimeData())) return;
    problem_->setText(tr("The clipboard holds no picture."));
    problem_->show();
}

bool SceneAsk::take(const QMimeData* data) {
    if (data == nullptr) return false;
    const QString file = droppedFile(data);
    if (!file.isEmpty()) return openFile(file), true;
    const auto image = data->imageData().value<QImage>();
    if (image.isNull()) return false;
    load([image, alpha = form_.alpha] { return pictureOf(image, alpha); });
    return true;
}

/// Ctrl+O opens a picture here, and settings elsewhere.
void SceneAsk::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    KeyBindings::instance()->withhold(u"file/open"_s, this, true);
}

void SceneAsk::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    KeyBindings::instance()->withhold(u"file/open"_s, this, false);
}

void SceneAsk::dragEnterEvent(QDragEnterEvent* event) {
    if (!droppedFile(event->mimeData()).isEmpty() || event->mimeData()->hasImage())
        event->acceptProposedAction();
}

void SceneAsk::dropEvent(QDropEvent* event) {
    if (take(event->mimeData())) event->acceptProposedAction();
}

void SceneAsk::openFile(const QString& file) {
    load([path = file.toStdString(), alpha = form_.alpha] {
        return engine::load_picture(path, alpha);
    });
}

void SceneAsk::load(std::function<engine::Picture()> read) {
    inBackground(
        this,
        [read = std::move(read)] {
            auto picture = std::make_shared<const engine::Picture>(read());
            return Loaded{picture, ScenePicture(toImage(*picture))};
        },
        [this, number = ++loading_](const Outcome<Loaded>& loaded) {
            if (number != loading_) return;
            problem_->setVisible(loaded.error.has_value());
            if (loaded.error) return problem_->setText(errorText(*loaded.error));
            show(*loaded.result);
        });
}

void SceneAsk::show(const Loaded& loaded) {
    picture_ = loaded.picture;
    for (auto& answer : answers_) answer.reset();
    rejoin();
    lens_->fit();
    size_->setText(tr("%1 × %2 pixels").arg(picture_->width).arg(picture_->height));
    for (SceneView* view : views_) view->setPicture(loaded.shown);
    for (std::size_t run = 0; run < answers_.size(); ++run) ask(run);
}

void SceneAsk::ask(std::size_t run) {
    RunColumn* column = columns_->columns()[run];
    if (!picture_ || !column->model()->facts()) return;
    column->ask(
        this,
        [picture = picture_](engine::TrainedModel& model) {
            return std::pair(picture, model.answer(*picture).found);
        },
        [this, run](const auto& answered) {
            if (answered.first == picture_) takeAnswer(run, answered.second);
        },
        [this, run] { takeAnswer(run, {}); });
}

void SceneAsk::takeAnswer(std::size_t run, std::vector<engine::FoundObject> found) {
    answers_[run] = std::move(found);
    rejoin();
}

void SceneAsk::rejoin() {
    lens_->highlight(-1);
    objects_ = joined(answers_);
    std::vector<SceneRun> runs;
    for (std::size_t run = 0; run < answers_.size(); ++run) {
        runs.push_back({columns_->columns()[run]->model()->title(), answers_[run].has_value()});
        views_[run]->setObjects(&objects_, run, answers_[run] ? &*answers_[run] : nullptr,
                                classes());
    }
    table_->show(&objects_, std::move(runs), classes());
    refresh();
}

void SceneAsk::refresh() {
    scoreText_->setText(tr("Score at least %1").arg(lens_->score(), 0, 'f', 2));
    const QSignalBlocker quiet(score_);
    score_->setValue(static_cast<int>(std::lround(lens_->score() * scoreSteps)));
    table_->choose();
    for (std::size_t run = 0; run < answers_.size(); ++run) {
        QString words;
        if (answers_[run]) {
            words = nothingAbove(lens_->score(), *answers_[run], classes());
            if (words.isEmpty()) words = tr("Objects: %1").arg(views_[run]->drawn().size());
        } else if (picture_ && columns_->columns()[run]->model()->problem().isEmpty()) {
            words = tr("Looking…");
        }
        summaries_[run]->setText(words);
    }
}

}  // namespace ui
