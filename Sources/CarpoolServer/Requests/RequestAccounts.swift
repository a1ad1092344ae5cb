internal import CarpoolRPC
internal import CarpoolSession

/// The account of what requests come to take of memory after their call: it counts as what came with the call does.
final class RequestAccounts: RequestMemory {
    private unowned let server: Server

    init(server: Server) { self.server = server }

    func count(_ bytes: Int, for request: Request) throws(SessionError) {
        guard let entry = server.requests.known(request.id),
            let refusal = server.requests.grow(entry, to: bytes, server.limits)
        else { return }
        throw SessionError(
            "queue_full", RPCError.tooManyRequestBytes(refusal).message,
            hint: "wait until other requests are over, and let adapters and redirects give less", isRetryable: true,
            details: [SessionError.Detail("limit_name", .string(refusal.limit))])
    }
}
