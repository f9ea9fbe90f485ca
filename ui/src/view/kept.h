#pragma once

#include <QObject>
#include <type_traits>

#include "view/context.h"

namespace ui {

/// Keeps what a page has computed and shows: it stays when the page is made anew in another
/// language. Without Context::kept it belongs to the page.
template <typename Model>
Model* kept(const Context& context, QObject* page) {
    const auto made = [&context](QObject* parent) {
        if constexpr (std::is_constructible_v<Model, const Context&, QObject*>)
            return new Model(context, parent);
        else
            return new Model(parent);
    };
    if (context.kept == nullptr) return made(page);
    auto* found = context.kept->findChild<Model*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : made(context.kept);
}

}  // namespace ui
