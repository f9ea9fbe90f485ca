"""Calls of one object's methods, observed without a trace in the object itself.

While anybody observes, the method of the object's class is replaced. The object's own dictionary
stays as it is: torch.save and copy.deepcopy take all that is in it.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Tuple

_Before = Callable[..., None]


class _Method:
    """A method of a class, replaced by one that tells its observers."""

    def __init__(self, kind: type, name: str) -> None:
        self.observers: List[Tuple[Any, _Before]] = []
        self._kind, self._name = kind, name
        self._own = name in vars(kind)
        self._original = getattr(kind, name)
        self._method = _telling(self._original, self.observers)
        setattr(kind, name, self._method)

    def restore(self) -> None:
        """Puts the original back, unless somebody else has replaced the method since."""
        if vars(self._kind).get(self._name) is not self._method:
            return
        if self._own:
            setattr(self._kind, self._name, self._original)
        else:
            delattr(self._kind, self._name)


def _telling(original: Any, observers: List[Tuple[Any, _Before]]) -> Any:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for watched, before in list(observers):
            if watched is self:
                before(*args, **kwargs)
        return original(self, *args, **kwargs)

    return method


_methods: Dict[Tuple[type, str], _Method] = {}


def observe(watched: Any, name: str, before: _Before) -> Callable[[], None]:
    """`before` gets the arguments of each call of watched.name, ahead of it. Returns the function
    that ends this. Raises AttributeError where there is no such method, and TypeError where the
    class cannot be changed."""
    if name in vars(watched):
        return _observe_own(watched, name, before)
    key = (type(watched), name)
    if key not in _methods:
        _methods[key] = _Method(*key)
    observer = (watched, before)
    _methods[key].observers.append(observer)

    def end() -> None:
        method = _methods[key]
        method.observers.remove(observer)
        if not method.observers:
            method.restore()
            del _methods[key]

    return end


def _observe_own(watched: Any, name: str, before: _Before) -> Callable[[], None]:
    """Observes a method that somebody has put into the object itself, as older schedulers of
    the learning rate do with an optimizer's step."""
    original = vars(watched)[name]

    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if watching[0]:
            before(*args, **kwargs)
        return original(*args, **kwargs)

    watching = [True]
    setattr(watched, name, wrapper)

    def end() -> None:
        watching[0] = False
        if vars(watched).get(name) is wrapper:
            setattr(watched, name, original)

    return end
