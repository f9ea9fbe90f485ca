#pragma once

#include <QFrame>
#include <QLabel>

#include "context.h"
#include "engine/verdict.h"

namespace ui {

/// One sentence on the comparison with its evidence, from the engine's judge, which reads the
/// records off the GUI thread.
class VerdictBar final : public QFrame {
    Q_OBJECT
public:
    explicit VerdictBar(const Context& context, QWidget* parent = nullptr);

private:
    void ask();
    void show(const engine::Verdict& verdict);
    void showWords(const QString& icon, const QColor& color, const QString& headline,
                   const QString& evidence);

    Context context_;
    QLabel* icon_;
    QLabel* text_;
    bool asking_ = false;
    qint64 asked_ = 0;
    bool hasVerdict_ = false;
    engine::Verdict last_;
};

}  // namespace ui
