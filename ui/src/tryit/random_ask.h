#pragma once

#include "tryit/run_columns.h"

namespace ui {

/// Pictures that models draw from random numbers: the same numbers for all of them.
class RandomAsk final : public QWidget {
    Q_OBJECT
public:
    RandomAsk(Theme* theme, const TriedModels& models, QWidget* parent = nullptr);

    std::int64_t seed() const { return seed_; }

private:
    void ask();
    void askOne(RunColumn* column);

    Theme* theme_;
    RunColumns* columns_;
    QLabel* numbers_;
    std::int64_t seed_ = 1;
};

}  // namespace ui
