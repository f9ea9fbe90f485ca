#pragma once

#include "engine/base/error.h"
#include "widgets/page_export.h"

namespace ui::test {

/// Writes the page at once. False if the file cannot be written or has another ending.
inline bool writePage(const PageExport& page, const QString& file) {
    try {
        const FileWriter writer = pageWriter(page, file);
        if (writer) writer();
        return writer != nullptr;
    } catch (const engine::Error&) {
        return false;
    }
}

}  // namespace ui::test
