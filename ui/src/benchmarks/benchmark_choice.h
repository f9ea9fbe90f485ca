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

/// What is measured: models, precisions, and the memory within which the largest batch is searched.
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
    /// Entries may be new.
    void refresh();
    /// If other entries are listed than before.
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
