internal import CarpoolRPC

/// The types of events that are recorded, each since an event of the journal.
///
/// Most types are recorded for every reader, because a client may resume with another filter. The types of a group are
/// not, before a reader asks for one of them: a body of 1 GiB has 65,000 steps, which would fill the journal.
struct RecordedTypes: Equatable {
    private struct Group: Equatable {
        let types: EventTypeSet
        /// The number of the last event before the first recorded one of the group; `nil` while nobody has asked.
        var floor: Int?
    }

    /// The types to record; empty if there is no reader.
    private(set) var types = EventTypeSet()
    private var groups = RecordedTypes.groups

    private static let groups = [Group(types: .notifications), Group(types: .bodySteps)]
    /// The types that are recorded for every reader.
    private static let usual: EventTypeSet = {
        var types = EventTypeSet { _ in true }
        for group in groups { types.subtract(group.types) }
        return types
    }()

    /// Adds the groups of which a reader wants a type, from the event after this one on.
    mutating func add(_ wanted: EventTypeSet, after sequence: Int) {
        types.formUnion(RecordedTypes.usual)
        for index in groups.indices where groups[index].floor == nil && groups[index].types.intersects(wanted) {
            groups[index].floor = sequence
            types.formUnion(groups[index].types)
        }
    }

    /// Whether all events of these types after this one were recorded, as far as there were readers.
    func hasAll(of wanted: EventTypeSet, after sequence: Int) -> Bool {
        groups.allSatisfy { !$0.types.intersects(wanted) || sequence >= $0.floor ?? .max }
    }
}
