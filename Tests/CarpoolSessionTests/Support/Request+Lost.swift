@testable import CarpoolSession

extension Request {
    /// Ends it as an invalidated session does.
    func lose(to reason: SessionError) { session.handle(.invalidated(reason), of: self) }
}
