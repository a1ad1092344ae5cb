@testable import CarpoolServer
import CarpoolSystem

extension RequestReader {
    /// A reader for a daemon of user 1000, whose callbacks are only noted.
    static func make(_ client: any Client) throws -> RequestReader {
        RequestReader(
            client: client, owner: 1_000, callbacks: RecordingParts(), languages: [], scheduler: try EventLoop(),
            connectivity: UnknownConnectivity(), makeRequestID: { "r_test" })
    }
}
