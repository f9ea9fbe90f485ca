#include "tryit/detection_models.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "text/format.h"
#include "tryit/tried_model.h"

namespace ui {
namespace {

using engine::DetectionReport;

const DetectionReport& detectionsOf(const SharedReport& report) { return *report->detections; }

/// Figures that have no value come before all others.
double sortable(double figure) { return std::isnan(figure) ? -1.0 : figure; }

QString labelName(const DetectionReport& report, std::int32_t label) {
    return label == 0 ? FigureModel::tr("background")
                      : className(report.classes, static_cast<std::size_t>(label - 1));
}

std::vector<std::size_t> numbers(std::size_t count) {
    std::vector<std::size_t> out(count);
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
}

}  // namespace

QString inPoints(double share) {
    return std::isnan(share) ? FigureModel::tr("none") : QString::number(share * 100, 'f', 1);
}

QString figureTitle(std::size_t figure) {
    static_assert(engine::precision_figures.size() == 12);
    const std::array titles = {FigureModel::tr("AP"),
                               FigureModel::tr("AP at 0.50"),
                               FigureModel::tr("AP at 0.75"),
                               FigureModel::tr("AP small"),
                               FigureModel::tr("AP medium"),
                               FigureModel::tr("AP large"),
                               FigureModel::tr("AR, 1 detection"),
                               FigureModel::tr("AR, 10"),
                               FigureModel::tr("AR, 100"),
                               FigureModel::tr("AR small"),
                               FigureModel::tr("AR medium"),
                               FigureModel::tr("AR large")};
    return titles[figure];
}

FigureModel::FigureModel(SharedReport report, QObject* parent)
    : RowModel(parent), report_(std::move(report)) {
    columns_ = {{tr("COCO, in points"), figureTitle}};
    const auto add = [this](const QString& title, const engine::PrecisionFigures& figures) {
        columns_.push_back(
            {title, [&figures](std::size_t i) { return inPoints(figures.values[i]); }, true});
    };
    if (detectionsOf(report_).masks) add(tr("Masks"), *detectionsOf(report_).masks);
    add(tr("Boxes"), detectionsOf(report_).boxes);
    setRows(numbers(engine::precision_figures.size()));
}

ClassPrecisionModel::ClassPrecisionModel(SharedReport report, QObject* parent)
    : RowModel(parent), report_(std::move(report)) {
    const DetectionReport& of = detectionsOf(report_);
    const auto& figures = of.primary().classes;
    const auto points = [&figures](double engine::ClassPrecision::*figure) {
        return [&figures, figure](std::size_t i) { return inPoints(figures[i].*figure); };
    };
    columns_ = {
        {tr("Class"), [&of](std::size_t i) { return className(of.classes, i); }},
        {tr("AP"), points(&engine::ClassPrecision::ap), true},
        {u"AP50"_s, points(&engine::ClassPrecision::ap50), true},
        {u"AP75"_s, points(&engine::ClassPrecision::ap75), true},
        {tr("Instances"), [&figures](std::size_t i) { return count(figures[i].truths); }, true}};
    setRows(numbers(figures.size()));
}

QVariant ClassPrecisionModel::value(const std::size_t& number, int column, int role) const {
    if (role != Qt::UserRole) return {};
    const engine::ClassPrecision& figures = detectionsOf(report_).primary().classes[number];
    switch (column) {
        case Ap:
            return sortable(figures.ap);
        case Ap50:
            return sortable(figures.ap50);
        case Ap75:
            return sortable(figures.ap75);
        case Instances:
            return static_cast<double>(figures.truths);
        default:
            return static_cast<double>(number);
    }
}

std::vector<DetectorConfusion> largestConfusions(const DetectionReport& report, std::size_t most) {
    std::vector<DetectorConfusion> out;
    for (const auto& [pair, times] : report.confusions) {
        if (pair[0] != pair[1]) out.push_back({pair[0], pair[1], times});
    }
    std::ranges::stable_sort(out, std::greater<>(), &DetectorConfusion::times);
    out.resize(std::min(out.size(), most));
    return out;
}

ConfusionModel::ConfusionModel(SharedReport report, QObject* parent) : RowModel(parent) {
    constexpr std::size_t most = 15;
    const auto name = [report](std::int32_t DetectorConfusion::*label) {
        return [report, label](const DetectorConfusion& row) {
            return labelName(detectionsOf(report), row.*label);
        };
    };
    columns_ = {{tr("Truth"), name(&DetectorConfusion::truth)},
                {tr("Detected as"), name(&DetectorConfusion::found)},
                {tr("Times"), [](const DetectorConfusion& row) { return count(row.times); }, true}};
    setRows(largestConfusions(detectionsOf(report), most));
}

QVariant ConfusionModel::value(const DetectorConfusion& row, int column, int role) const {
    if (role != Qt::UserRole) return {};
    const std::array<double, 3> figures = {static_cast<double>(row.truth),
                                           static_cast<double>(row.found),
                                           static_cast<double>(row.times)};
    return figures[static_cast<std::size_t>(column)];
}

ErrorModel::ErrorModel(SharedReport report, QObject* parent) : RowModel(parent) {
    using engine::PictureErrors;
    columns_ = {
        {tr("Picture"), [](const PictureErrors& row) { return count(row.sample + 1); }},
        {tr("Missed"), [](const PictureErrors& row) { return count(row.missed); }, true},
        {tr("Scores of false ones"),
         [](const PictureErrors& row) { return QString::number(row.false_scores, 'f', 1); }, true},
        {tr("Errors"),
         [](const PictureErrors& row) { return QString::number(row.total(), 'f', 1); }, true}};
    setRows(detectionsOf(report).errors);
}

QVariant ErrorModel::value(const engine::PictureErrors& row, int column, int role) const {
    if (role != Qt::UserRole) return {};
    const std::array<double, 4> figures = {static_cast<double>(row.sample),
                                           static_cast<double>(row.missed), row.false_scores,
                                           row.total()};
    return figures[static_cast<std::size_t>(column)];
}

std::vector<std::vector<std::int64_t>> confusionCells(const DetectionReport& report) {
    const std::size_t side = report.classes.size() + 1;
    std::vector cells(side, std::vector<std::int64_t>(side));
    const auto place = [side](std::int32_t label) {
        return label == 0 ? side - 1 : static_cast<std::size_t>(label - 1);
    };
    for (const auto& [pair, times] : report.confusions)
        cells[place(pair[0])][place(pair[1])] = times;
    return cells;
}

engine::Table figureTable(const DetectionReport& report) {
    engine::Table out{{"figure", "class", "masks", "boxes"}};
    const auto add = [&](const char* figure, const std::string& of, const auto& read) {
        out.rows.push_back(
            {figure, of, report.masks ? engine::finite_cell(read(*report.masks)) : engine::Cell(),
             engine::finite_cell(read(report.boxes))});
    };
    for (std::size_t i = 0; i < engine::precision_figures.size(); ++i)
        add(engine::precision_figures[i], "",
            [i](const engine::PrecisionFigures& figures) { return figures.values[i]; });
    using engine::ClassPrecision;
    const std::array<std::pair<const char*, double ClassPrecision::*>, 3> parts = {
        {{"AP", &ClassPrecision::ap},
         {"AP50", &ClassPrecision::ap50},
         {"AP75", &ClassPrecision::ap75}}};
    for (std::size_t i = 0; i < report.boxes.classes.size(); ++i) {
        for (const auto& [name, figure] : parts)
            add(name, className(report.classes, i).toStdString(),
                [i, figure = figure](const engine::PrecisionFigures& figures) {
                    return figures.classes[i].*figure;
                });
    }
    return out;
}

}  // namespace ui
