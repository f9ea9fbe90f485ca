#pragma once

#include <QFrame>

#include "network/network_completion.h"

class QLabel;
class QListWidget;

namespace ui {

/// The list of words that fit at the cursor. The editor keeps the focus and passes keys on.
class NetworkPopup final : public QFrame {
    Q_OBJECT
public:
    explicit NetworkPopup(QWidget* editor);

    /// Below `cursor`, in the editor's viewport; hidden without words. Enter accepts a word of a list
    /// that was `asked` for, or in which one was chosen; else Tab alone does.
    void offer(const NetworkWords& words, const QRect& cursor, bool asked);
    /// Takes the keys that choose, accept or close. False for any other.
    bool press(int key);

signals:
    void chosen(const QString& insert);

private:
    QLabel* title_;
    QListWidget* list_;
    bool enterAccepts_ = false;
};

}  // namespace ui
