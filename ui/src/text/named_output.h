#pragma once

#include <QByteArray>
#include <QString>
#include <functional>

namespace ui {

/// Writes a file that a person named, as engine::write_named_file() does. False if it cannot be
/// written.
bool writeNamed(const QString& file, const QByteArray& bytes);

/// The same for what Qt writes by a file's name alone: make(scratch) writes a scratch file with the
/// same ending first, and returns whether it could.
bool writeNamed(const QString& file, const std::function<bool(const QString&)>& make);

}  // namespace ui
