internal import CarpoolHTTP

/// Maps transfers to requests, and back. A transfer belongs to one request; a request has at most one transfer at a time.
struct RequestTaskMap {
    private var requests: [Int: Request] = [:]

    var count: Int { requests.count }

    subscript(transfer: any TransportTask) -> Request? {
        get { requests[transfer.id] }
        set { requests[transfer.id] = newValue }
    }
}
