#include "network/network_export.h"

#include <QBuffer>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/network/network_exports.h"
#include "engine/runs/export.h"
#include "engine/train/network_report.h"
#include "network/network_model.h"
#include "text/language.h"

namespace ui {
namespace {

constexpr double pixelsPerInch = 96, pointsPerInch = 72;
constexpr double longestPage = 14'400;  // points, of a PDF
constexpr int resolution = 1200;        // per inch

struct ExportWords {
    Q_DECLARE_TR_FUNCTIONS(NetworkExport)
};

}  // namespace

QByteArray pdfOfSvg(const QByteArray& svg) {
    QSvgRenderer picture(svg);
    if (!picture.isValid() || picture.viewBoxF().isEmpty()) throw engine::Error(engine::ErrorCode::io, engine::msg("The picture cannot be drawn as a PDF."));
    QSizeF size = picture.viewBoxF().size() * (pointsPerInch / pixelsPerInch);
    if (const double longest = std::max(size.width(), size.height()); longest > longestPage) size *= longestPage / longest;
    QByteArray bytes;
    QBuffer out(&bytes);
    out.open(QIODevice::WriteOnly);
    {
        QPdfWriter pdf(&out);
        pdf.setCreator(u"Halftone"_s);
        pdf.setResolution(resolution);
        pdf.setPageSize(QPageSize(size, QPageSize::Point, {}, QPageSize::ExactMatch));
        pdf.setPageMargins({});
        QPainter painter(&pdf);
        picture.render(&painter, QRectF(0, 0, pdf.width(), pdf.height()));
    }
    return bytes;
}

std::vector<NetworkExport> networkExports() {
    std::vector<NetworkExport> out;
    for (const auto& form : engine::network_forms()) {
        const auto write = [write = form.write](const NetworkView& view, const engine::RunConfig&) {
            return QByteArray::fromStdString(write(view.text.toStdString(), view.data, view.types.rows));
        };
        const QString title = engineText(form.title), ending = QString::fromStdString(form.ending);
        out.push_back({title, ending, write});
        if (ending != u"svg") continue;
        out.push_back({title, u"pdf"_s, [write](const NetworkView& view, const engine::RunConfig& settings) { return pdfOfSvg(write(view, settings)); }});
    }
    out.push_back({ExportWords::tr("ONNX with initial weights"), u"onnx"_s, [](const NetworkView& view, const engine::RunConfig& settings) {
                       return QByteArray::fromStdString(engine::network_to_onnx(view.text.toStdString(), view.data, settings.seed));
                   }});
    out.push_back({ExportWords::tr("Shapes, types and costs"), u"json"_s, [](const NetworkView& view, const engine::RunConfig& settings) {
                       return QByteArray::fromStdString(engine::network_to_json(engine::report_network(view.text.toStdString(), view.data, settings), {}));
                   }});
    return out;
}

}  // namespace ui
