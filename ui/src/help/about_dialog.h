#pragma once

#include <QDialog>

namespace ui {

/// What the program is: version, the machine's and libraries' versions, and the licences of the
/// libraries in it. A button copies all of it.
class AboutDialog final : public QDialog {
    Q_OBJECT
public:
    explicit AboutDialog(QWidget* parent);
};

}  // namespace ui
