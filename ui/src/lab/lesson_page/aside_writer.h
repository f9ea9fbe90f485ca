#pragma once

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>

#include "text/language.h"

namespace ui {

/// Writes a file off the GUI thread for a dialog that waits for it: the folder may be on a drive of
/// the network. Ends with the dialog; what is given up leaves nothing behind. GUI thread.
class AsideWriter final : public QObject {
    Q_OBJECT
public:
    explicit AsideWriter(QObject* parent = nullptr) : QObject(parent) {}
    ~AsideWriter() override { cancel(); }

    /// `write` runs on another thread and returns the name of what it has written. It may throw.
    void start(std::function<QString()> write);
    void cancel();
    bool running() const { return stop_ != nullptr; }

signals:
    /// `failure` is empty after success.
    void ended(const QString& file, const ui::Failure& failure);
    void cancelled();

private:
    std::shared_ptr<std::atomic<bool>> stop_;  ///< null: nothing runs
};

}  // namespace ui
