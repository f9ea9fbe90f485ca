#pragma once

#include <QLineEdit>
#include <QStringList>
#include <QVBoxLayout>
#include <QWidget>
#include <vector>

namespace ui {

class Benchmarks;
class Card;
class CheckBox;

/// The choice of what is measured: models, precisions, and the memory limit of the largest batch.
class BenchmarkChoice final : public QWidget {
    Q_OBJECT
public:
    explicit BenchmarkChoice(Benchmarks* benchmarks, QWidget* parent = nullptr);

private:
    void makeHead();
    QWidget* makeList();
    QWidget* makeRest();
    void addPrecision(QVBoxLayout* column, const QString& preset);
    void chooseAll(bool chosen);
    /// The list of entries may have changed.
    void refresh();
    /// Lists the entries again if they have changed.
    void rebuildModels();

    Benchmarks* benchmarks_;
    Card* card_;
    QVBoxLayout* models_ = nullptr;
    QStringList titles_;                 ///< of the entries
    std::vector<CheckBox*> modelBoxes_;  ///< of the entries, in their order
    std::vector<CheckBox*> precisionBoxes_;
    CheckBox* findsBatches_ = nullptr;
    QLineEdit* memory_ = nullptr;
};

}  // namespace ui
