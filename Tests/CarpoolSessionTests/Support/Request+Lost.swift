@testable import CarpoolSession

extension Request {
    /// Ends it as its session does that is invalidated.
    func lose(to reason: SessionError) { session.handle(.invalidated(reason), of: self) }
}
