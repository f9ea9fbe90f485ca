#pragma once

#include <QFrame>

class QLabel;

namespace ui {

class BlockModel;
class Segments;
class Theme;

/// The block editor: formats whose numbers share a scale, and what a number becomes among others.
class BlockCard final : public QFrame {
    Q_OBJECT
public:
    BlockCard(const Theme* theme, BlockModel* model, QWidget* parent = nullptr);

private:
    void refresh();

    BlockModel* model_;
    Segments* kinds_;
    QLabel* sum_;
    QLabel* number_;
    QLabel* random_;
};

}  // namespace ui
