#include "panels/settings/data_preview.h"

#include <QFileDialog>
#include <QMenu>
#include <QPainter>

#include "commands/commands.h"
#include "engine/settings/catalog.h"
#include "models/settings_model.h"
#include "panels/settings/data_sketch.h"
#include "text/event_text.h"
#include "text/language.h"
#include "text/metric_text.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int pictureCount = 8;
constexpr int progressEvery = 200;      // ms
constexpr std::size_t maxClasses = 6;  // that are named

QPixmap strip(const std::vector<engine::DatasetPreview::Thumbnail>& thumbnails, qreal scale) {
    const int cell = size::thumbnail;
    const int step = cell + 3;
    QPixmap pixmap(QSize(step * static_cast<int>(thumbnails.size()), cell) * scale);
    pixmap.setDevicePixelRatio(scale);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    int x = 0;
    for (const auto& t : thumbnails) {
        const QImage image(t.rgb.data(), t.width, t.height, t.width * 3, QImage::Format_RGB888);
        // Large pictures are averaged, small ones stay pixels.
        painter.drawImage(QRect(x, 0, cell, cell),
                          t.width > cell
                              ? image.scaled(QSize(cell, cell) * scale, Qt::IgnoreAspectRatio,
                                             Qt::SmoothTransformation)
                              : image);
        x += step;
    }
    return pixmap;
}

/// A table whose target is numeric: classes are a matter of task.kind then.
bool predictsNumber(const engine::DatasetPreview& preview) {
    return std::ranges::any_of(preview.columns, [](const engine::ColumnPreview& column) {
        return column.role == engine::ColumnPreview::Role::target && column.numeric;
    });
}

}  // namespace

DataPreview::DataPreview(const Context& context, QWidget* parent)
    : QWidget(parent), context_(context), look_([this] { showProgress(); }, progressEvery) {
    auto* column = makeColumn(this, {0, 2, 0, 2}, size::grid);
    pictures_ = new QLabel(this);
    pictures_->setFixedHeight(size::thumbnail);
    pictures_->setAccessibleName(tr("Samples of the data set"));
    counts_ = makeSmall({}, "dim", this);
    counts_->setWordWrap(true);
    counts_->setTextFormat(Qt::RichText);
    connect(counts_, &QLabel::linkActivated, this, [this] { choosePath(); });
    sketch_ = new DataSketch(context_.theme, this);
    sketch_->hide();
    addWidgets(column, {pictures_, sketch_, counts_});
    connect(context_.settings, &SettingsModel::changed, this, &DataPreview::ask);
    ask();
}

void DataPreview::choosePath() {
    QMenu menu;
    menu.addAction(tr("Choose a folder…"))->setData(true);
    menu.addAction(tr("Choose a file…"))->setData(false);
    const QAction* chosen = menu.exec(QCursor::pos());
    if (chosen == nullptr) return;
    const QString from = context_.settings->text(u"dataset.path"_s);
    const QString path =
        chosen->data().toBool()
            ? QFileDialog::getExistingDirectory(this, tr("Folder of the data set"), from)
            : QFileDialog::getOpenFileName(this, tr("File of the data set"), from);
    if (!path.isEmpty()) context_.commands->openData(path);
}

/// The link behind the counts does nothing then.
void DataPreview::setLocked(bool locked) {
    counts_->setTextInteractionFlags(locked ? Qt::NoTextInteraction : Qt::TextBrowserInteraction);
}

void DataPreview::ask() {
    const auto& config = context_.settings->config();
    const QString key = context_.settings->dataKey();
    if (key == asked_) return;
    asked_ = key;
    look_.drop();
    const auto* info = engine::find_dataset(config.dataset.kind);
    if (info != nullptr && !info->needs.empty() && config.dataset.path.empty()) {
        showProblem(engineText(info->needs));
        return;
    }
    counts_->setText(tr("Reading…"));
    look_.start(
        [dataset = config.dataset, seed = config.seed](auto& link) {
            const auto note = [&link](const engine::ReadingShare& share) {
                link.report([&share](engine::ReadingShare& at) { at = share; });
            };
            return engine::preview_dataset(dataset, seed, pictureCount, {note, link.token()});
        },
        [this, key](const Outcome<engine::DatasetPreview>& found) {
            if (found.error) return showProblem(found.failure().sentence());
            show(*found.result);
            context_.settings->setData(key, *found.result);
        });
}

/// Shows how many files of a folder of pictures, or how much of a large file is read.
void DataPreview::showProgress() {
    const engine::ReadingShare share = look_.progress();
    if (share.total == 0) return;
    const QString text =
        share.in_bytes
            ? tr("Reading %1 of %2…").arg(bytes(share.done), bytes(share.total))
            : tr("Reading %1 of %2 files…").arg(count(share.done), count(share.total));
    counts_->setText(
        left_.behind(text, static_cast<double>(share.done) / static_cast<double>(share.total)));
}

/// With the names of a few classes and their training samples.
QString DataPreview::classes(const engine::DatasetPreview& preview) {
    QString text = tr("%1 classes").arg(count(preview.classes));
    if (preview.class_names.size() > maxClasses) return text;
    QStringList names;
    for (std::size_t i = 0; i < preview.class_names.size(); ++i)
        names << QString::fromStdString(preview.class_names[i]).toHtmlEscaped() + u' ' +
                     count(preview.train_counts[i]);
    return text + u" ("_s + names.join(u", "_s) + u')';
}

QString DataPreview::counts(const engine::DatasetPreview& preview) {
    QStringList parts{tr("%1 train").arg(count(preview.train_samples))};
    if (preview.validation_samples > 0)
        parts << tr("%1 validation").arg(count(preview.validation_samples));
    parts << tr("%1 test").arg(count(preview.test_samples));
    if (preview.unit != "images" && preview.unit != "points")
        parts.back() += u' ' + unitName(preview.unit);
    if (preview.text)
        parts << (preview.text->tokens  ? tr("%1 tokens in the vocabulary")
                  : preview.text->words ? tr("%1 different words")
                                        : tr("%1 different characters"))
                     .arg(count(preview.text->vocabulary));
    else if (preview.classes > 0 && !predictsNumber(preview))
        parts << classes(preview);
    return parts.join(u" · "_s);
}

void DataPreview::show(const engine::DatasetPreview& preview) {
    pictures_->setVisible(!preview.thumbnails.empty());
    if (!preview.thumbnails.empty()) {
        pictures_->setPixmap(strip(preview.thumbnails, devicePixelRatioF()));
        QStringList names;
        for (const auto& shown : preview.thumbnails)
            if (const auto at = static_cast<std::size_t>(shown.label);
                at < preview.class_names.size())
                names << QString::fromStdString(preview.class_names[at]);
        pictures_->setToolTip(names.join(u" · "_s).toHtmlEscaped());
        pictures_->setAccessibleDescription(names.join(u", "_s));
    }
    sketch_->show(preview);
    QString text = counts(preview);
    if (!context_.settings->config().dataset.path.empty()) {
        text += u" · <a href='#'>"_s + tr("change path") + u"</a>"_s;
    }
    restyle(counts_, "role", u"dim"_s);
    counts_->setText(text);
}

void DataPreview::showProblem(const QString& text) {
    pictures_->hide();
    sketch_->hide();
    restyle(counts_, "role", u"caution"_s);
    counts_->setText(
        joined({sentence(text).toHtmlEscaped(), u"<a href='#'>%1</a>"_s.arg(tr("Choose…"))}));
}

}  // namespace ui
