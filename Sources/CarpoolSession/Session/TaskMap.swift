internal import CarpoolHTTP

/// The owner of each transfer. A transfer has one owner; an owner has at most one transfer at a time.
struct TaskMap<Owner: AnyObject> {
    private var owners: [Int: Owner] = [:]

    var count: Int { owners.count }

    subscript(transfer: any TransportTask) -> Owner? {
        get { owners[transfer.id] }
        set { owners[transfer.id] = newValue }
    }
}
