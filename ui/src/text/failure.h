#pragma once

#include <QString>
#include <exception>
#include <utility>

#include "engine/base/message.h"

namespace ui {

/// Why something failed. Kept as the engine says it, since the window's language may change before
/// it is read again.
class Failure {
public:
    Failure() = default;
    /// With the hint of an engine::Error.
    explicit Failure(const std::exception& error);
    explicit Failure(engine::Message message) : message_(std::move(message)) {}

    bool isEmpty() const { return message_.empty(); }
    /// In the window's language; empty if nothing failed.
    QString sentence() const;
    QString hint() const;
    /// Both.
    QString text() const;

private:
    engine::Message message_, hint_;
};

}  // namespace ui
