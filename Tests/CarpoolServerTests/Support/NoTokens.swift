import CarpoolHTTP
@testable import CarpoolServer
import CarpoolSession
import CarpoolSystem

/// The tokens of users for whom nothing is sent.
final class NoTokens: TokenProvider {
    final class Spool: BodySpool {
        func makeFile(for owner: any BodyOwner, isHashed: Bool) throws(SessionError) -> any SpoolFile {
            throw SessionError("test", "no")
        }
    }
    final class Monitor: EventMonitor {}

    private let session: Session

    init(_ loop: EventLoop) throws {
        session = Session(
            name: "oauth2", configuration: SessionConfiguration(), transport: try CurlTransport(loop: loop),
            scheduler: loop, spool: Spool(), files: FileStore(work: InlineWork(), scheduler: loop),
            eventMonitor: Monitor())
    }

    func makeRequestID() -> String { "r_test" }

    func tokens(of uid: UInt32) -> SharedTokens {
        let accounts = MemoryAccounts(of: "tokens") { Limits().tokenBounds }
        return SharedTokens(session: session, memory: accounts.make(of: uid)) { "r_test" }
    }
}
