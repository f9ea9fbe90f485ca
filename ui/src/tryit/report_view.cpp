#include "tryit/report_view.h"

#include <QHeaderView>
#include <QListWidget>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "text/metric_text.h"
#include "theme/theme.h"
#include "tryit/confusion_matrix.h"
#include "tryit/detection_models.h"
#include "tryit/precision_curves.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int pictureSize = 64;
constexpr int narrowestColumn = 56;
constexpr int crispUpTo = 64;  // pixels a side; larger pictures are smoothed

QPixmap pixmapOf(const engine::Picture& picture, qreal scale) {
    const QImage image(picture.rgb.data(), picture.width, picture.height, picture.width * 3,
                       QImage::Format_RGB888);
    const int side = static_cast<int>(pictureSize * scale);
    QPixmap pixmap = QPixmap::fromImage(image.scaled(
        side, side, Qt::KeepAspectRatio,
        picture.width <= crispUpTo ? Qt::FastTransformation : Qt::SmoothTransformation));
    pixmap.setDevicePixelRatio(scale);
    return pixmap;
}

}  // namespace

ReportView::ReportView(Theme* theme, const std::string& precision, QWidget* parent)
    : QWidget(parent), theme_(theme), precision_(precision) {
    auto* column = makeColumn(this, {}, size::grid);
    figures_ = new QLabel(this);
    figures_->setTextFormat(Qt::PlainText);
    figures_->setWordWrap(true);
    figures_->setFont(Theme::bold());
    figures_->hide();
    samples_ = makeSmall(tr("Not evaluated yet."), "dim", this);
    samples_->setWordWrap(true);
    progress_ = new QProgressBar(this);
    progress_->setRange(0, 1000);
    progress_->setTextVisible(false);
    progress_->setAccessibleName(tr("Progress of the evaluation"));
    progress_->hide();
    left_ = makeSmall({}, "dim", this);
    left_->hide();
    stack_ = new QStackedWidget(this);
    for (int part = 0; part < parts; ++part) stack_->addWidget(new QWidget(stack_));
    addWidgets(column, {figures_, samples_, progress_, left_});
    column->addWidget(stack_, 1);
}

namespace {

struct KeptReport {
    SharedReport report;
    ModelFacts facts;
};

}  // namespace

QVariant ReportView::kept() const {
    return report_ ? QVariant::fromValue(KeptReport{report_, facts_}) : QVariant();
}

void ReportView::setKept(const QVariant& shown) {
    const auto kept = shown.value<KeptReport>();
    if (kept.report) show(kept.report, kept.facts);
}

void ReportView::setProgress(double share) {
    progress_->setVisible(share >= 0);
    progress_->setValue(static_cast<int>(share * 1000));
    const QString time = share >= 0 ? time_.after(share) : QString();
    left_->setText(time);
    left_->setVisible(!time.isEmpty());
}

bool ReportView::has(const engine::PartReport& report, Part part) {
    if (report.detections) return part != Hardest || !report.detections->errors.empty();
    if (part == Figures || part == Curves) return false;
    return part == Hardest ? !report.hardest.empty() : !report.confusion.empty();
}

void ReportView::showPart(Part part) { stack_->setCurrentIndex(part); }

void ReportView::showFigures(const ModelFacts& facts) {
    QStringList figures;
    for (const auto& metric : facts.metrics) {
        figures << metricTitle(metric) + u' ' +
                       metricValue(metric, report_->figures.of(metric.key));
    }
    figures << tr("loss %1").arg(measured(report_->figures.loss, significant));
    figures_->setText(figures.join(u" · "_s));
    figures_->show();
    samples_->setText(tr("%1 samples of the test part, at step %2")
                          .arg(count(report_->samples), count(facts.step)));
}

void ReportView::replace(Part part, QWidget* with) {
    const int current = stack_->currentIndex();
    QWidget* old = stack_->widget(part);
    stack_->removeWidget(old);
    old->deleteLater();
    stack_->insertWidget(part, with);
    stack_->setCurrentIndex(current);
}

/// Outputs that are NaN have a row and a column of their own.
void ReportView::showMatrix(ConfusionMatrix& matrix, const engine::PartReport& report,
                            const std::vector<std::string>& classes) {
    auto cells = report.confusion;
    if (report.unpredicted.empty()) return matrix.show(cells, classes);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        names.push_back(className(classes, i).toStdString());
        cells[i].push_back(report.unpredicted[i]);
    }
    names.push_back(noPrediction().toStdString());
    cells.emplace_back(names.size(), 0);
    matrix.show(cells, names);
}

void ReportView::show(SharedReport report, const ModelFacts& facts) {
    report_ = std::move(report);
    facts_ = facts;
    showFigures(facts);
    if (report_->detections) return showDetections();
    const bool pictures =
        !report_->hardest.empty() && !report_->hardest.front().picture.rgb.empty();
    if (has(*report_, Matrix)) {
        auto* matrix = new ConfusionMatrix(theme_, precision_, stack_);
        showMatrix(*matrix, *report_, facts.classes);
        replace(Matrix, matrix);
        replace(Classes,
                makeTable(new ClassModel(report_, facts.classes, this), tr("Figures by class")));
    } else {
        replace(Matrix, makeNote(tr("This task has no classes.")));
        replace(Classes, makeNote(tr("This task has no classes.")));
    }
    if (pictures) {
        replace(Hardest, makePictures(facts));
    } else if (has(*report_, Hardest)) {
        auto* model = new HardestModel(report_, facts.classes, this);
        auto* table = makeTable(model, tr("Largest loss"));
        table->setColumnHidden(HardestModel::Probability, !model->ofClasses());
        table->sortByColumn(HardestModel::Loss, Qt::DescendingOrder);
        replace(Hardest, table);
    } else {
        replace(Hardest, makeNote(tr("This task has no single samples.")));
    }
}

void ReportView::showDetections() {
    const engine::DetectionReport& found = *report_->detections;
    auto* figures = makePlainTable({}, new FigureModel(report_, this), stack_);
    figures->model()->setParent(figures);
    figures->setAccessibleName(tr("Figures"));
    figures->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    figures->horizontalHeader()->setHighlightSections(false);
    replace(Figures, figures);
    if (found.classes.size() <= mostMatrixClasses) {
        auto* matrix = new ConfusionMatrix(theme_, precision_, stack_);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < found.classes.size(); ++i)
            names.push_back(className(found.classes, i).toStdString());
        names.push_back(FigureModel::tr("background").toStdString());
        matrix->show(confusionCells(found), names);
        replace(Matrix, matrix);
    } else {
        auto* table = makeTable(new ConfusionModel(report_, this), tr("Largest confusions"));
        table->sortByColumn(2, Qt::DescendingOrder);
        replace(Matrix, table);
    }
    auto* classes = makeTable(new ClassPrecisionModel(report_, this), tr("Figures by class"));
    classes->sortByColumn(ClassPrecisionModel::Ap, Qt::AscendingOrder);
    replace(Classes, classes);
    replace(Curves, new PrecisionCurves(theme_, report_, stack_));
    if (!has(*report_, Hardest)) return replace(Hardest, makeNote(tr("No picture has an error.")));
    auto* errors = makeTable(new ErrorModel(report_, this), tr("Most errors"));
    errors->sortByColumn(3, Qt::DescendingOrder);
    replace(Hardest, errors);
}

QWidget* ReportView::makeNote(const QString& text) {
    auto* note = makeProse(text, "dim", stack_);
    note->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    return note;
}

QTableView* ReportView::makeTable(QAbstractItemModel* model, const QString& name) {
    auto* table = new QTableView(stack_);
    model->setParent(table);
    auto* sorted = new QSortFilterProxyModel(table);
    sorted->setSourceModel(model);
    sorted->setSortRole(Qt::UserRole);
    table->setModel(sorted);
    table->setAccessibleName(name);
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setTabKeyNavigation(false);
    table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
    auto* head = table->horizontalHeader();
    head->setSectionResizeMode(QHeaderView::ResizeToContents);
    head->setSectionResizeMode(0, QHeaderView::Stretch);
    head->setMinimumSectionSize(narrowestColumn);
    head->setHighlightSections(false);
    table->setSortingEnabled(true);
    table->sortByColumn(0, Qt::AscendingOrder);
    return table;
}

QWidget* ReportView::makePictures(const ModelFacts& facts) {
    auto* box = new QWidget(stack_);
    auto* column = makeColumn(box);
    auto* legend = makeSmall(tr("Actual class → predicted class, and its probability"), "dim", box);
    legend->setWordWrap(true);
    auto* list = new QListWidget(box);
    list->setViewMode(QListView::IconMode);
    list->setResizeMode(QListView::Adjust);
    list->setMovement(QListView::Static);
    list->setFont(Theme::caption());
    list->setIconSize({pictureSize, pictureSize});
    list->setAccessibleName(tr("Largest loss"));
    const QFontMetrics metrics(Theme::caption());
    int widest = pictureSize;
    for (const engine::HardSample& sample : report_->hardest)
        widest = std::max(widest, addPicture(list, sample, facts));
    list->setGridSize({widest + 16, pictureSize + 3 * metrics.height() + 14});
    column->addWidget(legend);
    column->addWidget(list, 1);
    return box;
}

/// Returns the width of its text.
int ReportView::addPicture(QListWidget* list, const engine::HardSample& sample,
                           const ModelFacts& facts) {
    const QString actual = className(facts.classes, static_cast<std::size_t>(sample.label));
    const QString called = predictedName(facts.classes, sample);
    auto* item = new QListWidgetItem(
        QIcon(pixmapOf(sample.picture, devicePixelRatioF())),
        actual + u"\n→ "_s + called + u'\n' + percent(sample.probability), list);
    item->setTextAlignment(Qt::AlignHCenter | Qt::AlignTop);
    const QString words = tr("Sample %1 is %2; the model says %3 with %4. Loss %5.")
                              .arg(count(sample.index + 1), actual, called,
                                   percent(sample.probability), significant(sample.loss));
    item->setToolTip(words);
    item->setData(Qt::AccessibleTextRole, words);
    const QFontMetrics metrics(list->font());
    return std::max(metrics.horizontalAdvance(actual), metrics.horizontalAdvance(u"→ "_s + called));
}

}  // namespace ui
