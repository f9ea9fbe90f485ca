#pragma once

#include <QDialog>

namespace ui {

/// Version of the program, versions of the machine and its libraries, and the licences of the
/// bundled libraries. A button copies everything.
class AboutDialog final : public QDialog {
    Q_OBJECT
public:
    explicit AboutDialog(QWidget* parent);
};

}  // namespace ui
