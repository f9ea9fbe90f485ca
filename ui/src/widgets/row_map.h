#pragma once

#include <QAbstractScrollArea>
#include <QStringList>

namespace ui {

/// A map of named rows that scroll under a fixed head and over a fixed foot. Up, Down, Page Up,
/// Page Down, Home and End move the selection and keep it in view. Base of the maps with a row per
/// layer. GUI thread.
class RowMap : public QAbstractScrollArea {
    Q_OBJECT
public:
    /// Heights of rows in pixels. Rows are as high as the view allows, between the two limits.
    struct Heights {
        int minRow, maxRow, head, foot;
    };
    explicit RowMap(const Heights& heights, QWidget* parent = nullptr);

protected:
    /// -1: none.
    virtual int selectedRow() const = 0;
    virtual void selectRow(int row) = 0;

    /// Sets the rows from top to bottom. Measures the names, so that painting does not.
    void setRows(const QStringList& names);
    const QStringList& rows() const { return names_; }
    int rowCount() const { return static_cast<int>(names_.size()); }
    /// Width of the widest name in this widget's font.
    int widestName() const { return widest_; }
    double rowHeight() const;
    /// Top of the row in the viewport.
    double topOf(int row) const;
    /// Top of the foot, in the viewport: right below the last row, or at the lower edge.
    double footTop() const;
    /// Index of the row at this height; -1: none.
    int rowAt(double y) const;
    /// The rows that are at least partly in view, [first, last).
    int firstInView() const;
    int lastInView() const;
    void scrollTo(int row);
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    int room() const;
    void layOut();

    const Heights heights_;
    QStringList names_;
    int widest_ = 0;
};

}  // namespace ui
