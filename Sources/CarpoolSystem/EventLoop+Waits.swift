extension EventLoop {
    /// Begins a wait that ends once: when the returned closure is first called, or when so many milliseconds have
    /// passed. Nothing is kept after that.
    /// - Parameters:
    ///   - milliseconds: the limit; `nil` for none.
    ///   - then: is called at the end, with whether the limit has passed.
    public func beginWait(milliseconds: Int?, then: @escaping (_ isLate: Bool) -> Void) -> () -> Void {
        var then: ((Bool) -> Void)? = then
        var timer: Timer?
        let end = { [self] (isLate: Bool) in
            guard let body = then else { return }
            if let timer { cancel(timer) }
            // The timer holds this closure, which holds the timer.
            (then, timer) = (nil, nil)
            body(isLate)
        }
        if let milliseconds {
            let limit = Timer { end(true) }
            timer = limit
            arm(limit, afterMilliseconds: milliseconds)
        }
        return { end(false) }
    }
}
