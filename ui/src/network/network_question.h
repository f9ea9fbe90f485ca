#pragma once

#include <QFrame>
#include <QString>
#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;

namespace ui {

/// A bar that says or asks something about the text, with a button for each answer. Hidden while
/// there is nothing. GUI thread.
class NetworkQuestion final : public QFrame {
    Q_OBJECT
public:
    struct Answer {
        QString text;
        std::function<void()> act;
    };
    explicit NetworkQuestion(QWidget* parent);

    /// Asking the same again changes nothing.
    void ask(const QString& sentence, const std::vector<Answer>& answers);

private:
    QLabel* sentence_;
    QHBoxLayout* buttons_;
    QString asked_;
};

}  // namespace ui
