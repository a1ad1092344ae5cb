internal import CarpoolHTTP

/// Counts the bytes of certificates and revocation lists in use, which take several times that in memory. The same
/// content counts once for a user.
final class TrustMaterialAccount {
    private struct Charge {
        weak var material: AnyObject?
        let ticket: QuotaLedger.Ticket
    }

    private struct Key: Hashable {
        let material: ObjectIdentifier
        let user: UInt32
    }

    private let quota = QuotaLedger()
    private var charges: [Key: Charge] = [:]
    /// The number of charges at which those of unused material are removed.
    private var most = TrustMaterialAccount.leastCharges

    private static let leastCharges = 64
    /// What the smallest material counts: its objects take more than its bytes.
    private static let leastBytes = 1_024

    /// How many bytes are counted, with some that are no longer used.
    var bytes: Int { quota.used }

    /// Counts material until nothing uses it any more.
    func charge(
        _ material: AnyObject, bytes: Int, for client: ClientIdentity, _ bounds: Quota.Bounds
    ) throws(Quota.Refusal) {
        let key = Key(material: ObjectIdentifier(material), user: client.uid)
        if let known = charges[key], known.material === material { return }
        if charges.count >= most { removeUnused() }
        let counted = max(bytes, TrustMaterialAccount.leastBytes)
        let ticket: QuotaLedger.Ticket
        do throws(Quota.Refusal) {
            ticket = try quota.take(counted, for: client, bounds)
        } catch {
            removeUnused()
            ticket = try quota.take(counted, for: client, bounds)
        }
        charges[key] = Charge(material: material, ticket: ticket)
    }

    private func removeUnused() {
        charges = charges.filter { $0.value.material != nil }
        most = max(TrustMaterialAccount.leastCharges, 2 &* charges.count)
    }
}

extension TrustMaterial {
    /// What stays in memory as long as a request or a session uses it, and the bytes of its content; `nil` if only
    /// hashes of keys stay.
    var kept: (object: AnyObject, bytes: Int)? {
        switch self {
        case .authorities(let authorities): (authorities.store, authorities.store.contentBytes)
        case .lists(let lists): (lists, lists.contentBytes)
        case .pins(let pins): (pins, pins.contentBytes)
        case .keys: nil
        }
    }
}
