import CarpoolSession

extension RedirectHandler {
    /// Whether redirects are followed by the rules alone.
    var follows: Bool {
        if case .follow = behaviour { true } else { false }
    }
}
