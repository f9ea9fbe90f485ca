#pragma once

#include <QByteArray>
#include <QString>
#include <functional>

namespace ui {

/// Writes a file that a person named, as engine::write_named_file() does. False if it cannot be
/// written.
bool writeNamed(const QString& file, const QByteArray& bytes);

/// Writes what Qt writes by a file's name alone: make(scratch) writes a scratch file with the same
/// ending first, and returns whether it could.
bool writeNamed(const QString& file, const std::function<bool(const QString&)>& make);

/// Writes one file that is ready to be written, on any thread. Throws engine::Error.
using FileWriter = std::function<void()>;
/// A writer of these bytes.
FileWriter writerOf(const QString& file, const QByteArray& bytes);
/// Bytes that make(scratch) writes into a scratch file with the ending of `file`. Throws
/// engine::Error(io) if it cannot.
QByteArray madeByName(const QString& file, const std::function<bool(const QString&)>& make);

}  // namespace ui
