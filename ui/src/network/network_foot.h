#pragma once

#include <QFrame>

class QLabel;
class QListWidget;
class QPushButton;
class QStackedWidget;

namespace ui {

class ElidedLabel;
class NetworkEditor;
class NetworkModel;
class Theme;

/// Below the text: the faults of the text, each with its place and a button for its replacement; of
/// a text without any, the layer at the cursor. GUI thread.
class NetworkFoot final : public QFrame {
    Q_OBJECT
public:
    NetworkFoot(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

private:
    QWidget* makeFaults();
    QWidget* makeLayer();
    void refresh();
    void showFaults();
    void showLayer();
    void chooseAtCursor();

    const Theme* theme_;
    NetworkModel* model_;
    NetworkEditor* editor_;
    QStackedWidget* parts_;
    QListWidget* faults_ = nullptr;
    QPushButton* replace_ = nullptr;
    QLabel *place_ = nullptr, *shape_ = nullptr, *parameters_ = nullptr, *flops_ = nullptr;
    ElidedLabel *layer_ = nullptr, *why_ = nullptr, *unknownText_ = nullptr;
    QWidget* unknown_ = nullptr;
    QPushButton* type_ = nullptr;
    int row_ = -1;  ///< of the layer on show
};

}  // namespace ui
