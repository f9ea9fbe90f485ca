#pragma once

#include <QDialog>

namespace ui {

/// Says how the data of a run have changed since the run read them, and asks whether to use them as
/// they are now. Accepted: they are used.
class ChangedDataDialog final : public QDialog {
    Q_OBJECT
public:
    /// `what`: how they differ, a sentence. `then`: what using them means.
    ChangedDataDialog(const QString& what, const QString& then, QWidget* parent);
};

}  // namespace ui
