#pragma once

#include <QFrame>
#include <vector>

#include "engine/runs/sweep.h"
#include "view/context.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTimer;
class QToolButton;

namespace ui {

/// A sweep around the settings on the left: fields with their values, and a number of seeds. Shows
/// all errors of all points at once; valid points can be added to the queue.
class SweepForm final : public QFrame {
    Q_OBJECT
public:
    explicit SweepForm(const Context& context, QWidget* parent = nullptr);

    /// Reads points from a file, a JSON object of settings a line. If fields have values, each
    /// point is combined with each combination.
    void openList(const QString& file);
    /// The request that the fields make.
    engine::SweepRequest request() const;

private:
    /// A field and its values, "0.1, 0.01".
    struct Axis {
        QLineEdit* path;
        QLineEdit* values;
    };
    void addAxis();
    void addFoot(QVBoxLayout* column);
    void refresh();
    void addToQueue();
    void chooseList();
    void showList(const QString& name);
    void dropList();

    Context context_;
    QVBoxLayout* rows_;
    std::vector<Axis> axes_;
    QSpinBox* seeds_;
    QLabel* answer_;
    QPushButton* add_;
    QTimer* later_;  ///< typing is not answered at each letter
    QToolButton* listLink_ = nullptr;
    QToolButton* dropList_ = nullptr;
    std::string list_;  ///< the file's text; empty: none
    engine::SweepPlan plan_;
};

}  // namespace ui
