#pragma once

#include <QDialog>
#include <QKeySequence>

#include "widgets/key_bindings.h"

class QKeySequenceEdit;
class QLabel;
class QTableWidget;

namespace ui {

/// Lists the commands of the menus and pages with their keys, each of which can be changed. A key
/// that another command has is refused. Changes act at once and are kept between starts.
class KeysDialog final : public QDialog {
    Q_OBJECT
public:
    explicit KeysDialog(QWidget* parent = nullptr);

private:
    QString placed(const KeyBindings::Command& command) const;
    void fill();
    void take(const QString& id, QKeySequenceEdit* edit);
    void showKeys();

    QTableWidget* table_;
    QLabel* problem_;
};

}  // namespace ui
