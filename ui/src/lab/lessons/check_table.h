#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QToolButton>
#include <QWidget>
#include <vector>

namespace ui {

/// One row of Check: what was predicted beside what was measured.
struct CheckRow {
    QString id;  ///< of the prediction
    QString question;
    QString said;      ///< what the learner answered
    QString measured;  ///< empty: not final yet
    QString verdict;   ///< "659 steps too early"; empty: right, or not final
    bool final_ = false;
    bool right = false;
    QString hint;           ///< shown once a wrong prediction is final
    std::int64_t step = 0;  ///< where the plots show it; 0: nowhere
    bool operator==(const CheckRow&) const = default;
};

/// The rows, each filled as soon as its value is final. A wrong one has a hint and "Show me where".
/// No scores. GUI thread.
class CheckTable final : public QWidget {
    Q_OBJECT
public:
    explicit CheckTable(QWidget* parent = nullptr);
    void setRows(std::vector<CheckRow> rows);
    const std::vector<CheckRow>& rows() const { return rows_; }

signals:
    /// The plots are to show this step.
    void showWanted(std::int64_t step);

private:
    void build();
    void addRow(const CheckRow& row);

    std::vector<CheckRow> rows_;
    QGridLayout* grid_;
};

}  // namespace ui
