#pragma once

#include <QLabel>
#include <QListWidget>

#include "skips/skips_model.h"

namespace ui {

class Theme;

/// The samples of the examined batch, largest share first: small pictures for images, else a list;
/// below it, details of the selected one. GUI thread.
class SampleGrid final : public QWidget {
    Q_OBJECT
public:
    SampleGrid(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);

    /// The selected sample.
    std::optional<std::int64_t> sample() const;

private:
    void fill();
    void showSelected();
    void addPictures(const engine::SkipReport& report);
    void addLines(const engine::SkipReport& report);

    const Theme* theme_;
    SkipsModel* model_;
    QLabel* note_;
    QListWidget* list_;
    QLabel* selected_;
    std::int64_t shown_ = -1;  ///< step
};

}  // namespace ui
