#pragma once

#include "engine/data/dataset_preview.h"
#include "widgets/painted_widget.h"

namespace ui {

/// A small picture of data other than images: the columns of a table with their histograms, or the
/// beginning of a text with its most frequent words. As high as its content.
class DataSketch final : public PaintedWidget {
    Q_OBJECT
public:
    explicit DataSketch(Theme* theme, QWidget* parent = nullptr);
    void show(const engine::DatasetPreview& preview);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    int rowHeight() const;
    int shownColumns() const;
    void paintColumn(QPainter& painter, const engine::ColumnPreview& column,
                     const QRect& row) const;
    void paintHistogram(QPainter& painter, const engine::ColumnPreview& column,
                        const QRect& place) const;
    QStringList passageIn(int width) const;
    void paintText(QPainter& painter) const;

    std::vector<engine::ColumnPreview> columns_;
    std::optional<engine::TextPreview> text_;
    int rangeWidth_ = 0;  // of the widest range, so that the histograms stand in a column
};

}  // namespace ui
