internal import CarpoolHTTP

/// Which request each transfer belongs to, and the other way round. A transfer belongs to one request; a request has at most one at a time.
struct RequestTaskMap {
    private var requests: [Int: Request] = [:]

    var count: Int { requests.count }

    subscript(transfer: any TransportTask) -> Request? {
        get { requests[transfer.id] }
        set { requests[transfer.id] = newValue }
    }
}
