internal import CarpoolRPC
internal import CarpoolSession

/// The account of the memory that requests use after their call: it counts as what came with the call does.
final class RequestAccounts: RequestMemory {
    private unowned let requests: RequestService

    init(_ requests: RequestService) { self.requests = requests }

    func count(_ bytes: Int, forRequest id: String) throws(SessionError) {
        guard let refusal = requests.growRequest(id, to: bytes) else { return }
        throw SessionError(
            "queue_full", RPCError.tooManyRequestBytes(refusal).message,
            hint:
                "wait until other requests have finished, or make adapters and redirects return smaller bodies and headers",
            isRetryable: true,
            details: [SessionError.Detail("limit_name", .string(refusal.limit))])
    }
}
